package launch

// BeginCreated is the second half of Begin.
var BeginCreated = (*Prepared).beginCreated
