package tooldesk

import "strings"

// A pool is where the names of a world come from. The two pools of the full desk share no word.
type pool struct {
	first, last, street, town, brand, family []string
}

// familiar names fill the worlds of the train, validation and test splits.
var familiar = pool{
	first: strings.Fields("Ada Bruno Clara Dmitri Elena Farid Greta Hugo Ines Jonas Katya Leo Mira Nils Olga Pavel Rosa Stefan " +
		"Tara Viktor Wanda Yusuf Zoe Anton"),
	last: strings.Fields("Albrecht Bergman Castillo Dubois Eriksen Fischer Garcia Haddad Ivanov Jensen Kowalski Larsen Moreau " +
		"Novak Okafor Petrov Quintero Rossi Schmidt Tanaka Ueda Vargas Weber Yilmaz"),
	street: strings.Fields("Maple Harbour Station Church Garden Mill River School Chestnut Linden Market Orchard Park Quarry " +
		"Rosewood Spring"),
	town: strings.Fields("Lundby Westerham Norfeld Castria Belmora Oakdale Granau Silverton"),
	brand: strings.Fields("Aster Birch Cobalt Delta Ember Fjord Granite Hazel Iris Juniper Kestrel Lotus " +
		"Meadow Nimbus Onyx Pebble"),
	family: strings.Fields("lamp kettle backpack headset chair blender keyboard blanket"),
}

// unfamiliar names fill the worlds of the out-of-distribution split and occur nowhere else.
var unfamiliar = pool{
	first: strings.Fields("Amara Bastian Cosima Darius Evander Fenna Gideon Helmi Isolde Jorund Kaito Lavinia"),
	last: strings.Fields("Abernathy Bjornson Calloway Drummond Etxeberria Faulkner Grimaldi Holloway Ishikawa " +
		"Jankovic Kruger Lindqvist"),
	street: strings.Fields("Cypress Lantern Foundry Abbey Juggler Windmill Tannery Vineyard"),
	town:   strings.Fields("Zelmont Pradovia Kirkholm Arvenna"),
	brand:  strings.Fields("Quasar Rimini Sable Tundra Umber Vesper Willow Zephyr Obelisk Pagoda"),
	family: strings.Fields("tent scooter clock drone"),
}

// few names fill the worlds of the small desk.
var few = pool{
	first:  strings.Fields("ann ben cleo dan eva finn"),
	street: strings.Fields("elm oak hill lake"),
	family: strings.Fields("lamp kettle chair"),
}
