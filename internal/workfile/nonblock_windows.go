package workfile

// nonblock is not needed: no pipe has a place among files.
const nonblock = 0
