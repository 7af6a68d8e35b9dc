package household

import "slices"

// An objectType is a type of objects, an index into objectNames.
type objectType uint8

const (
	alarmclock objectType = iota
	apple
	book
	bowl
	box
	bread
	butterknife
	candle
	cd
	cellphone
	cloth
	creditcard
	cup
	desklamp
	dishsponge
	egg
	floorlamp
	fork
	glassbottle
	handtowel
	kettle
	keychain
	knife
	ladle
	laptop
	lettuce
	mug
	newspaper
	pan
	papertowel
	pen
	pencil
	peppershaker
	pillow
	plate
	pot
	potato
	remotecontrol
	saltshaker
	soapbar
	soapbottle
	spatula
	spoon
	spraybottle
	statue
	tissuebox
	toiletpaper
	tomato
	vase
	watch
	wateringcan
	winebottle
	objectTypes
)

// objectNames is sorted.
var objectNames = [objectTypes]string{
	"alarmclock", "apple", "book", "bowl", "box", "bread", "butterknife", "candle", "cd", "cellphone", "cloth", "creditcard", "cup",
	"desklamp", "dishsponge", "egg", "floorlamp", "fork", "glassbottle", "handtowel", "kettle", "keychain", "knife", "ladle", "laptop",
	"lettuce", "mug", "newspaper", "pan", "papertowel", "pen", "pencil", "peppershaker", "pillow", "plate", "pot", "potato",
	"remotecontrol", "saltshaker", "soapbar", "soapbottle", "spatula", "spoon", "spraybottle", "statue", "tissuebox", "toiletpaper",
	"tomato", "vase", "watch", "wateringcan", "winebottle",
}

func (t objectType) String() string { return objectNames[t] }

func objectTypeOf(name string) (objectType, bool) {
	i, ok := slices.BinarySearch(objectNames[:], name)
	return objectType(i), ok
}

// An objectSet is a set of types of objects, a bit for each.
type objectSet uint64

func (s objectSet) has(t objectType) bool { return s>>t&1 == 1 }

const (
	lamps     objectSet = 1<<desklamp | 1<<floorlamp
	knives    objectSet = 1<<butterknife | 1<<knife
	heatable  objectSet = 1<<apple | 1<<bread | 1<<cup | 1<<egg | 1<<mug | 1<<plate | 1<<potato | 1<<tomato
	coolable  objectSet = heatable | 1<<bowl | 1<<lettuce | 1<<pan | 1<<pot | 1<<winebottle
	sliceable objectSet = 1<<apple | 1<<bread | 1<<egg | 1<<lettuce | 1<<potato | 1<<tomato
	cleanable objectSet = 1<<apple | 1<<bowl | 1<<butterknife | 1<<cloth | 1<<cup | 1<<dishsponge | 1<<egg | 1<<fork | 1<<kettle |
		1<<knife | 1<<ladle | 1<<lettuce | 1<<mug | 1<<pan | 1<<plate | 1<<pot | 1<<potato | 1<<soapbar | 1<<spatula | 1<<spoon | 1<<tomato
)

// A receptacleType is a type of receptacles, an index into receptacleTypeTable.
type receptacleType uint8

const (
	armchair receptacleType = iota
	bathtubbasin
	bed
	cabinet
	cart
	coffeemachine
	coffeetable
	countertop
	desk
	diningtable
	drawer
	dresser
	fridge
	garbagecan
	handtowelholder
	microwave
	ottoman
	safe
	shelf
	sidetable
	sinkbasin
	sofa
	stoveburner
	toilet
	toiletpaperhanger
	tvstand
	receptacleTypes
)

// receptacleNames is sorted.
var receptacleNames = [receptacleTypes]string{
	"armchair", "bathtubbasin", "bed", "cabinet", "cart", "coffeemachine", "coffeetable", "countertop", "desk", "diningtable", "drawer",
	"dresser", "fridge", "garbagecan", "handtowelholder", "microwave", "ottoman", "safe", "shelf", "sidetable", "sinkbasin", "sofa",
	"stoveburner", "toilet", "toiletpaperhanger", "tvstand",
}

func (t receptacleType) String() string { return receptacleNames[t] }

func receptacleTypeOf(name string) (receptacleType, bool) {
	i, ok := slices.BinarySearch(receptacleNames[:], name)
	return receptacleType(i), ok
}

// openable reports whether receptacles of the type are opened and closed.
func (t receptacleType) openable() bool {
	return t == fridge || t == cabinet || t == microwave || t == drawer || t == safe
}

const (
	general objectSet = 1<<alarmclock | 1<<book | 1<<bowl | 1<<box | 1<<candle | 1<<cd | 1<<cellphone | 1<<cloth | 1<<creditcard | 1<<cup |
		1<<glassbottle | 1<<keychain | 1<<laptop | 1<<mug | 1<<newspaper | 1<<pen | 1<<pencil | 1<<plate | 1<<remotecontrol | 1<<soapbottle |
		1<<spraybottle | 1<<statue | 1<<tissuebox | 1<<toiletpaper | 1<<vase | 1<<watch | 1<<wateringcan | 1<<winebottle
	onTables objectSet = general | 1<<apple | 1<<bread | 1<<egg | 1<<lettuce | 1<<potato | 1<<tomato | 1<<butterknife | 1<<knife | 1<<fork |
		1<<spoon | 1<<spatula | 1<<ladle | 1<<dishsponge | 1<<handtowel | 1<<kettle | 1<<pan | 1<<pot | 1<<papertowel | 1<<peppershaker |
		1<<saltshaker | 1<<soapbar
	onSofas objectSet = 1<<book | 1<<box | 1<<cellphone | 1<<cloth | 1<<creditcard | 1<<keychain | 1<<laptop | 1<<newspaper | 1<<pillow |
		1<<remotecontrol
)

// canContain holds what may be put into receptacles of each type, after ALFWorld's table.
var canContain = [receptacleTypes]objectSet{
	armchair:     onSofas,
	bathtubbasin: 1<<cloth | 1<<dishsponge | 1<<handtowel | 1<<soapbar,
	bed:          1<<book | 1<<cellphone | 1<<laptop | 1<<newspaper | 1<<pillow,
	cabinet: 1<<book | 1<<bowl | 1<<box | 1<<candle | 1<<cd | 1<<cloth | 1<<cup | 1<<dishsponge | 1<<glassbottle | 1<<handtowel |
		1<<kettle | 1<<ladle | 1<<mug | 1<<newspaper | 1<<pan | 1<<peppershaker | 1<<plate | 1<<pot | 1<<saltshaker | 1<<soapbar |
		1<<soapbottle | 1<<spraybottle | 1<<tissuebox | 1<<toiletpaper | 1<<vase | 1<<wateringcan | 1<<winebottle,
	cart:          onTables,
	coffeemachine: 1 << mug,
	coffeetable:   onTables,
	countertop:    onTables,
	desk:          general,
	diningtable:   onTables,
	drawer: 1<<book | 1<<butterknife | 1<<candle | 1<<cd | 1<<cellphone | 1<<cloth | 1<<creditcard | 1<<dishsponge | 1<<fork |
		1<<handtowel | 1<<keychain | 1<<knife | 1<<ladle | 1<<newspaper | 1<<pen | 1<<pencil | 1<<peppershaker | 1<<remotecontrol |
		1<<saltshaker | 1<<soapbar | 1<<soapbottle | 1<<spatula | 1<<spoon | 1<<spraybottle | 1<<tissuebox | 1<<toiletpaper |
		1<<watch | 1<<wateringcan,
	dresser: general &^ (1 << soapbottle),
	fridge: 1<<apple | 1<<bowl | 1<<bread | 1<<cup | 1<<egg | 1<<glassbottle | 1<<lettuce | 1<<mug | 1<<pan | 1<<plate | 1<<pot |
		1<<potato | 1<<tomato | 1<<winebottle,
	garbagecan: 1<<apple | 1<<bread | 1<<cd | 1<<cloth | 1<<dishsponge | 1<<egg | 1<<handtowel | 1<<lettuce | 1<<newspaper |
		1<<papertowel | 1<<pen | 1<<pencil | 1<<potato | 1<<soapbar | 1<<soapbottle | 1<<spraybottle | 1<<tissuebox |
		1<<toiletpaper | 1<<tomato | 1<<winebottle,
	handtowelholder: 1 << handtowel,
	microwave:       1<<apple | 1<<bowl | 1<<bread | 1<<cup | 1<<egg | 1<<glassbottle | 1<<mug | 1<<plate | 1<<potato | 1<<tomato,
	ottoman:         onTables | 1<<pillow, // the walkthroughs put pillows there
	safe:            1<<cd | 1<<cellphone | 1<<creditcard | 1<<keychain | 1<<statue | 1<<vase | 1<<watch,
	shelf: general&^(1<<laptop) | 1<<dishsponge | 1<<handtowel | 1<<kettle | 1<<papertowel | 1<<peppershaker | 1<<saltshaker |
		1<<soapbar | 1<<pot,
	sidetable: onTables,
	sinkbasin: 1<<apple | 1<<bowl | 1<<butterknife | 1<<cloth | 1<<cup | 1<<dishsponge | 1<<egg | 1<<fork | 1<<glassbottle |
		1<<handtowel | 1<<kettle | 1<<knife | 1<<ladle | 1<<lettuce | 1<<mug | 1<<pan | 1<<plate | 1<<pot | 1<<potato | 1<<soapbar |
		1<<spatula | 1<<spoon | 1<<tomato,
	sofa:        onSofas,
	stoveburner: 1<<kettle | 1<<pan | 1<<pot,
	toilet: 1<<candle | 1<<cloth | 1<<dishsponge | 1<<handtowel | 1<<newspaper | 1<<papertowel | 1<<soapbar | 1<<soapbottle |
		1<<spraybottle | 1<<tissuebox | 1<<toiletpaper,
	toiletpaperhanger: 1 << toiletpaper,
	tvstand:           onTables,
}
