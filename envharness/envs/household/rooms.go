package household

// The positions of the rooms in both presets' tables.
const (
	kitchen = iota
	livingroom
	bedroom
	bathroom

	smallBedroom = 1
)

// fullPreset has rooms like ALFWorld's.
var fullPreset = preset{
	rooms: []room{
		kitchen: {first: 0, scattered: 20, stacked: true, always: []count{{countertop, 2, false}, {cabinet, 4, true}, {drawer, 3, true},
			{fridge, 1, false}, {microwave, 1, false}, {sinkbasin, 1, false}, {stoveburner, 2, false}, {coffeemachine, 1, false},
			{garbagecan, 1, false}, {diningtable, 1, false}}},
		livingroom: {first: 200, scattered: 15, stacked: true, lamp: floorlamp, lampOn: []receptacleType{sidetable},
			always: []count{{sofa, 1, false}, {armchair, 1, false}, {coffeetable, 1, false}, {sidetable, 2, false}, {drawer, 2, true},
				{shelf, 2, true}, {garbagecan, 1, false}}},
		bedroom: {first: 300, scattered: 15, stacked: true, lamp: desklamp, lampOn: []receptacleType{desk, sidetable},
			always: []count{{bed, 1, false}, {desk, 1, false}, {dresser, 1, false}, {drawer, 3, true}, {shelf, 2, true},
				{sidetable, 1, false}, {safe, 1, false}, {garbagecan, 1, false}}},
		bathroom: {first: 400, scattered: 15, stacked: true, always: []count{{sinkbasin, 1, false}, {countertop, 1, false},
			{cabinet, 2, true}, {toilet, 1, false}, {bathtubbasin, 1, false}, {garbagecan, 1, false}}},
	},
	pairs: []pair{
		{PickAndPlace, kitchen}, {LookInLight, livingroom}, {PickClean, kitchen}, {PickHeat, kitchen}, {PickCool, kitchen},
		{PickTwo, kitchen}, {PickAndPlace, livingroom}, {LookInLight, bedroom}, {PickClean, bathroom}, {PickTwo, livingroom},
		{PickAndPlace, bedroom}, {PickTwo, bedroom}, {PickAndPlace, bathroom}, {PickTwo, bathroom},
	},
	objects: 1<<objectTypes - 1&^lamps,
}

// smallPreset has small rooms without shared locations and without knives.
var smallPreset = preset{
	prefix: "small-",
	few:    true,
	rooms: []room{
		kitchen: {first: 0, scattered: 3, always: []count{{countertop, 1, false}, {fridge, 1, false}, {microwave, 1, false},
			{sinkbasin, 1, false}}, choice: []receptacleType{cabinet, diningtable, shelf}, chosen: 1},
		smallBedroom: {first: 300, scattered: 3, lamp: desklamp, lampOn: []receptacleType{desk},
			always: []count{{bed, 1, false}, {desk, 1, false}, {drawer, 1, false}},
			choice: []receptacleType{dresser, safe, shelf, sidetable}, chosen: 2},
	},
	pairs: []pair{
		{PickAndPlace, kitchen}, {LookInLight, smallBedroom}, {PickClean, kitchen}, {PickHeat, kitchen}, {PickCool, kitchen},
		{PickTwo, kitchen}, {PickAndPlace, smallBedroom}, {PickTwo, smallBedroom},
	},
	objects: 1<<apple | 1<<cup | 1<<egg | 1<<mug | 1<<plate | 1<<potato | 1<<book | 1<<cd | 1<<cellphone | 1<<keychain | 1<<pen | 1<<watch,
}
