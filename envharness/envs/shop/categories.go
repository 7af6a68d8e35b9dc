package shop

// A category is what some products have in common.
type category struct {
	noun       string // head noun of the titles
	query      string
	path       [3]string
	use        string // what it is for, in the descriptions
	attributes []string
	colors     []string // nil where there is no choice
	sizes      []string
}

// fullCategories are the categories of the full catalogue. The last heldOut of them occur in the split ood alone. Some attributes are those of
// several categories, so that an attribute does not give the category away.
func fullCategories() []category {
	clothes := []string{"small", "medium", "large", "x-large", "xx-large"} // "x-large" satisfies "large", see the package comment
	plain := []string{"mini", "small", "medium", "large", "giant"}
	volumes := []string{"half pint", "one pint", "one quart", "half gallon", "one gallon"}
	lengths := []string{"one foot", "three feet", "six feet", "nine feet", "twelve feet"}
	beds := []string{"crib", "twin", "full", "queen", "king"}
	shoes := []string{"size 6", "size 7", "size 8", "size 9", "size 10"}
	boxes := []string{"single", "twin pack", "trio", "half dozen", "family box"}
	floors := []string{"runner", "square", "round", "oval", "wide"}
	return []category{
		{"desk lamp", "desk lamps", [3]string{"home", "lighting", "desk lamps"}, "reading late in the evening",
			[]string{"dimmable", "usb port", "touch control", "flexible neck", "eye caring", "energy saving", "warm light", "clamp base",
				"night mode", "easy to assemble", "metal frame", "space saving"},
			[]string{"black", "white", "silver", "red", "blue", "green"}, plain},
		{"water bottle", "water bottles", [3]string{"kitchen", "drinkware", "water bottles"}, "long days away from a tap",
			[]string{"leak proof", "bpa free", "stainless steel", "dishwasher safe", "double layer", "wide mouth", "straw lid", "easy to clean",
				"sweat proof", "carry loop", "light weight", "time marker"},
			[]string{"black", "white", "pink", "purple", "blue", "orange"}, volumes},
		{"throw blanket", "throw blankets", [3]string{"home", "bedding", "throw blankets"}, "cold evenings on the sofa",
			[]string{"machine washable", "super soft", "fade resistant", "heavy weight", "hand knitted", "reversible", "flannel fleece",
				"long fringe", "hypoallergenic", "quick drying", "braided pattern", "all season"},
			[]string{"grey", "beige", "red", "navy", "green", "white"}, beds},
		{"hiking boots", "hiking boots", [3]string{"clothing", "shoes", "hiking boots"}, "stony paths and muddy fields",
			[]string{"weather resistant", "rubber sole", "ankle support", "memory foam", "slip resistant", "steel toe", "suede leather",
				"light weight", "wide fit", "fleece lined", "arch support", "breathable mesh"},
			[]string{"brown", "black", "tan", "grey", "green", "orange"}, shoes},
		{"rain jacket", "rain jackets", [3]string{"clothing", "outerwear", "rain jackets"}, "walks on wet and windy days",
			[]string{"weather resistant", "wind proof", "long sleeve", "machine washable", "sealed seams", "two pockets", "packable hood",
				"loose fit", "fleece lined", "reflective stripe", "light weight", "full zipper"},
			[]string{"yellow", "black", "red", "navy", "green", "white"}, clothes},
		{"yoga mat", "yoga mats", [3]string{"sports", "exercise", "yoga mats"}, "stretching at home or in class",
			[]string{"non slip", "extra thick", "eco friendly", "easy to clean", "carry strap", "sweat proof", "tear resistant", "odor free",
				"natural rubber", "alignment lines", "light weight", "reversible"},
			[]string{"purple", "blue", "green", "black", "pink", "grey"}, plain},
		{"desk chair", "desk chairs", [3]string{"furniture", "office", "desk chairs"}, "many hours at a desk",
			[]string{"lumbar support", "height adjustable", "breathable mesh", "easy to assemble", "heavy duty", "padded seat", "faux leather",
				"tilt lock", "smooth wheels", "high back", "folding arms", "metal frame"},
			[]string{"black", "white", "grey", "brown", "red", "blue"}, plain},
		{"tea kettle", "tea kettles", [3]string{"kitchen", "cookware", "kettles"}, "hot drinks for the whole table",
			[]string{"stainless steel", "rapid boil", "cool handle", "whistle spout", "auto shutoff", "easy to clean", "glass body",
				"rust resistant", "dishwasher safe", "bpa free", "drip free", "induction base"},
			[]string{"silver", "black", "red", "white", "copper", "green"}, volumes},
		{"scented candle", "scented candles", [3]string{"home", "decor", "candles"}, "a calm room and a good smell",
			[]string{"soy wax", "long lasting", "lead free", "hand poured", "lavender scent", "vanilla scent", "cotton wick", "smoke free",
				"glass jar", "eco friendly", "cedar scent", "gift ready"},
			[]string{"white", "purple", "green", "pink", "yellow", "brown"}, nil},
		{"charging cable", "charging cables", [3]string{"electronics", "accessories", "cables"}, "phones and tablets at home or on the road",
			[]string{"quick charge", "braided nylon", "tangle free", "gold plated", "data transfer", "heavy duty", "angled plug",
				"magnetic tip", "light weight", "weather resistant", "status light", "storage pouch"},
			[]string{"black", "white", "red", "silver", "blue", "pink"}, lengths},
		{"wall shelf", "wall shelves", [3]string{"furniture", "storage", "wall shelves"}, "books, plants and small things",
			[]string{"solid wood", "easy to install", "space saving", "heavy duty", "rust resistant", "metal frame", "hidden bracket",
				"rustic finish", "hook row", "guard rail", "glossy finish", "hand made"},
			[]string{"white", "black", "brown", "grey", "gold", "blue"}, plain},
		{"face cream", "face creams", [3]string{"beauty", "skin care", "creams"}, "dry skin in the morning and at night",
			[]string{"cruelty free", "fragrance free", "sulfate free", "sensitive skin", "shea butter", "rose oil", "vitamin c",
				"long lasting", "aloe vera", "anti aging", "oil free", "dermatologist tested"},
			nil, boxes},
		{"travel backpack", "travel backpacks", [3]string{"luggage", "bags", "backpacks"}, "short trips and long commutes",
			[]string{"weather resistant", "laptop sleeve", "usb port", "padded straps", "anti theft", "light weight", "two pockets",
				"shoe pouch", "chest clip", "expandable", "full zipper", "hidden pocket"},
			[]string{"black", "grey", "navy", "green", "red", "purple"}, plain},
		{"bath rug", "bath rugs", [3]string{"home", "bath", "rugs"}, "a hard and cold floor",
			[]string{"machine washable", "non slip", "stain resistant", "low pile", "super soft", "hand made", "pet friendly", "geometric print",
				"fade resistant", "easy to clean", "jute fiber", "floral print"},
			[]string{"grey", "beige", "blue", "red", "ivory", "brown"}, floors},
		{"button shirt", "button shirts", [3]string{"clothing", "tops", "shirts"}, "the office and the weekend",
			[]string{"long sleeve", "short sleeve", "machine washable", "slim fit", "pure cotton", "wrinkle free", "spread collar",
				"loose fit", "moisture wicking", "chest pocket", "stretch fabric", "plaid pattern"},
			[]string{"white", "blue", "black", "pink", "grey", "green"}, clothes},
		{"granola bars", "granola bars", [3]string{"grocery", "snacks", "granola bars"}, "a snack between two meals",
			[]string{"gluten free", "low sugar", "high protein", "nut free", "dark chocolate", "non gmo", "whole grain", "individually wrapped",
				"plant based", "peanut butter", "dairy free", "rich fiber"},
			nil, boxes},
		{"bluetooth speaker", "bluetooth speakers", [3]string{"electronics", "audio", "speakers"}, "music in the garden or the bath",
			[]string{"weather resistant", "long lasting", "quick charge", "deep bass", "stereo sound", "hands free", "light weight", "carry loop",
				"noise cancelling", "status light", "voice control", "usb port"},
			[]string{"black", "red", "blue", "white", "green", "grey"}, plain},
		{"bath towel", "bath towels", [3]string{"home", "bath", "towels"}, "the bath, the pool and the gym",
			[]string{"pure cotton", "quick drying", "super soft", "machine washable", "fade resistant", "extra thick", "eco friendly",
				"odor free", "hanging loop", "hypoallergenic", "long fringe", "striped border"},
			[]string{"white", "grey", "pink", "blue", "beige", "purple"}, boxes},
		{"garden hose", "garden hoses", [3]string{"garden", "watering", "hoses"}, "beds, lawns and dusty cars",
			[]string{"leak proof", "tangle free", "heavy duty", "light weight", "expandable", "brass fittings", "lead free", "rust resistant",
				"easy to store", "spray nozzle", "frost proof", "drinking safe"},
			[]string{"green", "black", "blue", "yellow", "orange", "red"}, lengths},
		{"winter gloves", "winter gloves", [3]string{"clothing", "accessories", "gloves"}, "frosty mornings and snow",
			[]string{"touch screen", "fleece lined", "weather resistant", "wind proof", "slip resistant", "machine washable", "suede leather",
				"long cuff", "hand knitted", "reflective stripe", "quick drying", "stretch fabric"},
			[]string{"black", "grey", "brown", "red", "navy", "pink"}, clothes},
	}
}

// smallCategories are the categories of the small catalogue: every name is one word. The last is held out; all of its attributes, colors and
// sizes are those of others as well.
func smallCategories() []category {
	sizes := []string{"small", "medium", "large"}
	return []category{
		{"lamp", "lamp", [3]string{"home", "light", "lamp"}, "",
			[]string{"bright", "wooden", "folding", "modern"}, []string{"red", "blue", "green", "white"}, sizes},
		{"bag", "bag", [3]string{"travel", "carry", "bag"}, "",
			[]string{"leather", "folding", "waterproof", "soft"}, []string{"red", "black", "green", "brown"}, sizes},
		{"chair", "chair", [3]string{"furniture", "seat", "chair"}, "",
			[]string{"wooden", "leather", "soft", "sturdy"}, []string{"white", "blue", "black", "brown"}, sizes},
		{"jacket", "jacket", [3]string{"clothing", "outer", "jacket"}, "",
			[]string{"waterproof", "warm", "modern", "bright"}, []string{"red", "blue", "black", "white"}, sizes},
		{"tent", "tent", [3]string{"outdoor", "camp", "tent"}, "",
			[]string{"waterproof", "folding", "warm", "sturdy"}, []string{"green", "blue", "brown", "white"}, sizes},
	}
}

// brands end the titles of the full catalogue. All are made up.
func brands() []string {
	return []string{
		"arvelo", "brindary", "corvane", "dalmere", "estrolin", "fennwick", "garnova", "hollisk", "ivendo", "jorvany", "kelsoro", "lumarik",
		"mavendi", "norbecca", "olvento", "pellagro", "quorily", "rosendal", "stavaro", "tormund", "ulverta", "vantiso", "wexlynn", "yarrowin",
	}
}
