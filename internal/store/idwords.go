package store

// The words of ids are short, easy to tell apart, and do not comment on the work.
const (
	adjectives = `
amber ample apt azure bold brave bright brisk calm candid civil clear clever coral
cosy crisp deft early easy fair fleet fond frank fresh gentle glad golden grand hale
happy hardy honest humble ivory jolly keen kind lilac limber lively lucid mellow
merry mild mint neat nimble noble olive patient placid plucky polite prime proud
quick quiet rapid ready robust rosy royal ruby silver smart snug sober spry steady
stout sunny swift tidy trim true vivid warm wise witty zesty`
	animals = `
badger bat bear beaver bee bison bream camel carp cat civet cobra condor coot crab
crane cricket crow curlew deer dingo dove duck eagle egret eland elk falcon ferret
finch fox gecko gibbon goose grouse gull hare hawk heron hound ibex ibis jackal jay
kestrel kite koala koi lark lemur linnet lion llama lynx magpie marmot marten mole
moose newt ocelot okapi orca osprey otter owl panda perch petrel pike plover puffin
quail raven robin salmon seal shrew skua sloth snipe stoat stork swan tapir teal
tern tiger toad trout turtle viper vole walrus whale wolf wombat wren yak zebra`
)
