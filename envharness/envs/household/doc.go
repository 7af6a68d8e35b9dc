// Package household is a room told in words in which a household task is to be done, as in ALFWorld: find an object, perhaps clean, heat or cool
// it, and place it, place two of them, or hold one under a lamp. Types of tasks, commands, rules and texts are ALFWorld's
// (arXiv:2010.03768); the rooms are generated here, so that there are as many as are needed and nothing has to be downloaded.
//
// # Tasks
//
// A task's id is "<kind>-<scene>-<trial>", such as "pick_heat_then_place_in_recep-7-12". Scenes have ALFWorld's numbers: kitchens 1 to 30,
// living rooms 201 to 230, bedrooms 301 to 330, bathrooms 401 to 430. pick_and_place_simple and pick_two_obj_and_place are in all rooms,
// look_at_obj_in_light in living rooms and bedrooms, pick_clean_then_place_in_recep in kitchens and bathrooms, those with heat and cool in
// kitchens. With n for the scene modulo 100:
//
//   - train: n from 7 to 30, trials 0 to 39: 13,440 tasks
//   - validation, test: the same scenes, trials 40 and 41, and 42 and 43: 672 each
//   - ood: n from 1 to 6, where rooms have two more cabinets, drawers and shelves, trials 0 to 7: 672
//
// Lists go through the kinds quickest, so that the first tasks are of all kinds. No other id is a task. The receptacles of a room follow from the
// scene, in the others with one more cabinet, drawer or shelf by chance; some shelves stand above one another, and drawers are in a desk, in
// a dresser or above one another: these share a location, and who is at one reaches all. Everything that can be opened is closed at
// the start. The task says which types of objects and receptacles it is about, drawn uniformly from those that go together; 20 objects in
// kitchens and 15 in other rooms, drawn uniformly in type and place, lie around, at most three of a type, and those of the task are added
// until it is possible. Nothing else is random: seeds change nothing. The six unseen scenes of a room all have the same receptacles; they differ in
// which of them share a location, and in the objects.
//
// No two tasks start in the same state, but much else is shared with train tasks. A text of a start, which does not say what lies where, is
// one of train in 86 % of validation, 88 % of test and none of ood; the sentence of a task together with its shortest plan in 64, 62
// and 60 %.
//
// # Commands
//
// The one tool is do{text}. R is a receptacle, O an object, K a knife or a butterknife; names are a type and a number, such as mug 1. Here means
// with the location of the receptacle last gone to.
//
//   - go to R: any that is not here
//   - open R, close R: here, closed or open; fridges, cabinets, microwaves, drawers and safes
//   - take O from R, move O to R: R is here and, if it can be opened, open; one holds nothing, or O. Each type of receptacle takes certain types
//     of objects, any number of them. Lamps cannot be taken
//   - clean O with R, heat O with R, cool O with R: O is held and of a type that can be treated so, R a sinkbasin, microwave or fridge here, open or
//     not. Heating and cooling undo one another; what is clean stays so
//   - use O: a lamp here, which goes on or off
//   - slice O with K: K is held and O here
//   - examine R, examine O: R is here; O is held, or in or on something here that is not closed
//   - look, inventory, help
//
// The admissible actions are all commands that would be carried out, in the order of their texts as strings. Any other is answered "Nothing
// happens.", changes nothing and uses up a turn; the class is precondition. Arguments other than {"text":string} are bad_args.
//
// # Verdict
//
// An episode passes, and ends, with reward 1 once the goal holds: an object of the type, itself clean, hot or cool if the kind says so, is in or on a
// receptacle of the type; two such objects are in the same one; or an object is held where a lamp of the type is that was switched at
// some time. After [MaxTurns] turns it is truncated. The score of a failure is the share of the goal's parts that hold. Policies that choose
// admissible commands at random pass less than 1 % of the tasks, in both presets.
//
// # Small preset
//
// With [Options].Small rooms have five receptacles, in "ood" six, and three to five objects of twelve types, besides a lamp, and an episode has 12
// turns; every plan from the start fits in. The text tells how things stand, with at most 40 words, so that it is enough to act on: the task, where
// one is, what is to be seen there, what one holds and how it was treated, and where one can go.
//
//	put a hot egg in diningtable.
//	at microwave 1 closed
//	see nothing
//	hold hot egg 1
//	places countertop 1 diningtable 1 fridge 1 microwave 1 sinkbasin 1
//
// Ids begin with "small-"; scenes are kitchens and bedrooms, with 7,680, 384, 384 and 384 tasks in the splits, by the same rule. No kind is in both
// rooms but pick_and_place_simple and pick_two_obj_and_place.
//
// Small scenes are so few that some would recur. So objects are drawn again until a hash of the goal and of what lies where fits the split: modulo
// 20 it is 17 for ood, 18 for validation, 19 for test, and else train. No state of a start is in two splits; the 8,832 tasks start in 8,823
// different ones. A text of a start is one of train in all tasks but one of validation and of test, and in none of ood; sentence and shortest
// plan in 89, 91 and 87 %.
//
// What can be reached without knowing where things are is less than the oracle's 100 %: a scripted reader that sees the texts alone, knows the
// rules, and remembers what it saw passes 97 % of validation and test and 93 % of ood. Elsewhere it looks in the wrong places first.
//
// # What is ALFWorld's and what is ours
//
// ALFWorld's are the kinds, the commands, the preconditions and effects of its planning domain and the texts. Where we depart from it:
//
//   - Its table of what goes where is shortened to the types above. An ottoman takes a pillow, as in its walkthroughs.
//   - Going to what is here already is refused. Its domain allows that, its recordings show "Nothing happens.".
//   - A lamp that is off again reads so; in its texts a lamp that was ever switched is on.
//   - Lists of names ascend, as strings; its own descend by number. Help is worded anew. Every cabinet and drawer has a door.
//   - An object that is taken from one of two receptacles at the same location is still there, in the other one.
//
// Its rooms, and how often a type lies where, are not here: a score says nothing about one there. [FromScene] plays a scene that is given,
// ALFWorld's among them.
//
// # Start, plans and snapshots
//
// A component may move objects and open or close receptacles at the start, through "/start/objects" and "/start/open" of the snapshot: to where a
// move could put the object, and not so that the goal holds. Plans are shortest from every state: go, open where it is closed, and do, with
// the choice of objects and receptacles that takes the fewest turns. The oracle knows where everything is, which the texts do not tell: its
// plans go straight to what an agent has to look for. How an environment of a simulation works, and what it costs, says package sim.
//
// # Cost
//
// A step takes 1 to 4 us with the list of admissible commands, which is most of it, and a reset 30 to 60 us.
package household
