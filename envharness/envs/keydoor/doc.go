// Package keydoor is a world for the assignment of credit over many turns: rooms in a row, a locked door at the end of each, and the key
// to it somewhere before, perhaps rooms before. It is ours.
//
// # World
//
// There are m rooms of w cells. One starts in cell 0 of room 0. Key r lies in room max(0, r-g), in a cell from 1 to w-1 that is drawn.
// Door r is at the last cell of room r. Doors are one-way, so that a key which is left behind is lost, and what that costs is seen up to g
// rooms later. Leaving the last room passes.
//
// # Calls
//
//   - left, right go one cell; right in the last cell goes through the door into cell 0 of the next room, if the door is open
//   - pickup takes the key on this cell, of several the one with the lowest number
//   - use opens the door of this room, in its last cell, with its key, which is spent
//   - noop does nothing
//
// None takes arguments. A call that would change nothing is refused as a precondition, but for noop; the others are listed as
// admissible. A refused call takes a turn. The text tells room, cell, whether the door of the room is open, the keys that are held and
// those that lie on this cell; there is no map. Data["task"] is the task in a sentence.
//
// # Tasks
//
// The id is "m,w,g,s". The same s is the same drawing always; a seed at Reset changes nothing. With m and g in {2, 3} and {0, 1}, w 5:
//
//   - train: s from 0 to 99, 400 tasks
//   - validation, test: s from 100 to 119 and from 120 to 139, 80 tasks each
//   - ood: m in {4, 6}, g in {2, 3}, s from 0 to 19, 80 tasks: more rooms, and keys further from their doors
//
// Lists go through the sizes and then on to the next s, so that the first tasks are of all sizes; who takes every fourth has one.
//
// The splits share no id. There are but 16 or 64 ways to lay out the keys of two or three rooms, so that a layout comes up under several
// ids: 93% of the tasks of validation and 91% of test begin in a state that a task of train begins in, and all begin with the same text,
// which does not show the layout. Within these sizes it is the search for the keys that is learnt, and nothing tells a policy which layout it
// is in. What no training shows are the sizes of ood. Other ids can be played as well, with m from 1 to 9, w from 2 to 20, m*(w+2) up to
// 42, g from 0 to 9 and s up to 9999.
//
// The shortest plan takes m*(w+2) turns and the limit is three times as many, at most [MaxTurns]. A policy that draws admissible
// actions passes about 2% of the tasks with two rooms and 0.5% of those with three; the description declares a chance of 0.03.
//
// The oracle knows where the keys lie, which no text tells before one is there. From the start that is worth nothing, since every cell has
// to be crossed: a scripted reader of the text and the listed actions, who picks up every key (in the small preset but the spare ones),
// passes all tasks of both presets in as many turns. Where a key has been passed by, plans know more than a policy that has not seen it.
//
// # Small preset
//
// With [Options].Small there are two rooms of 2 or 3 cells, and 12 turns; plans take 8 or 10. Doors and keys have colours in place of
// numbers, four of eight, and in each room lies a spare key, in a cell without a key, that fits no door: to pick it up wastes a turn. The
// text tells the colours of both doors, so that a spare key can be told from the one for the next room.
//
// The ids are "small-2,w,g,s". Tasks of one w and g all differ in their colours, and no two splits share a world; but 63% of the tasks of
// validation and test and 66% of ood begin with the text of a task of train, as it shows the doors and the key in the first cell alone. With
// w in {2, 3} and g in {0, 1}:
//
//   - train: s from 0 to 199, 800 tasks
//   - validation, test: s from 200 to 219 and from 220 to 239, 80 tasks each
//   - ood: w is 4, s from 0 to 39, 80 tasks; the plan takes all 12 turns, so that there is none for a spare key
//
// Random admissible actions pass 0.8 to 1% of the tasks with w 2, from which a learner can start, and 0.02% of those with w 3; the
// declared chance is 0.015.
//
// # Verdict
//
// Pass if the last room was left; else Fail with the share of the rooms that were left. The reward is 1 on the turn that passes and 0
// otherwise.
//
// # Cost
//
// A step takes one allocation, for its text, and none where the text stays.
package keydoor
