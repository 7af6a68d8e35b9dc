package schema

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// Word lists from which values are put together; all of it is made up or common knowledge (ours). Where a list stands
// in a form it is named in angle brackets; '~' is a digit and '^' a digit from 1.
var lists = func() map[string][]string {
	m := make(map[string][]string)
	for name, words := range map[string]string{
		"city": `Oslo|Zürich|Lisbon|Nairobi|Kyoto|Toronto|Montevideo|Leipzig|Busan|Marseille|Cork|Tampere|Valparaíso|Hobart|Tromsø|Windhoek|Porto|Utrecht|
			Gdańsk|Bergen|Graz|Lyon|Sapporo|Dunedin|Halifax|Cusco|Accra|Kigali|Tallinn|Ghent|Bilbao|Aarhus|Malmö|Salvador|Quito|Perth|Galway|Bologna|Brno|Lucerne`,
		"country": `Norway|Switzerland|Portugal|Kenya|Japan|Canada|Uruguay|Germany|Chile|Ireland|Finland|Namibia|Poland|Austria|Ghana|Estonia|Belgium|Spain|
			Denmark|Sweden|Ecuador|Australia|Italy|Rwanda`,
		"code2": `NO|CH|PT|KE|JP|CA|UY|DE|CL|IE|FI|NA|PL|AT|GH|EE|BE|ES|DK|SE|EC|AU|IT|RW`,
		"code3": `NOR|CHE|PRT|KEN|JPN|CAN|URY|DEU|CHL|IRL|FIN|NAM|POL|AUT|GHA|EST|BEL|ESP|DNK|SWE|ECU|AUS|ITA|RWA`,
		"region": `Bavaria|Ontario|Tasmania|Andalusia|Tuscany|Brittany|Scania|Hokkaido|Otago|Galicia|Lapland|Saxony|Normandy|Alberta|Umbria|Flanders|Silesia|
			Queensland|Tyrol|Sardinia`,
		"first": `Amara|Bjorn|Chiara|Dmitri|Elif|Farid|Greta|Hiro|Ines|Jonas|Kofi|Lena|Mina|Nils|Olga|Pablo|Ravi|Sofia|Tariq|Yuki|Anouk|Bruno|Celia|Emil|
			Freya|Hanna|Ivo|Noor|Oskar|Tessa`,
		"last": `Okafor|Lindqvist|Moretti|Novak|Yilmaz|Haddad|Keller|Tanaka|Duarte|Meyer|Mensah|Fischer|Park|Berg|Petrov|Serrano|Nair|Rossi|Rahman|Sato|
			Vermeer|Costa|Larsen|Holm|Kowalski|Brandt|Silva|Demir|Lund|Moreau`,
		"handle": `amara|bjorn|chiara|dmitri|elif|farid|greta|hiro|ines|jonas|kofi|lena|mina|nils|olga|pablo|ravi|sofia|tariq|yuki|anouk|bruno|celia|emil`,
		"low":    `okafor|lindqvist|moretti|novak|yilmaz|haddad|keller|tanaka|duarte|meyer|mensah|fischer|park|berg|petrov|serrano|nair|rossi|rahman|sato`,
		"tree":   `Birch|Harbor|Mill|Cedar|Station|Meadow|Maple|Orchard|Willow|Castle|Garden|Bridge|Linden|River|Chapel|Market|Forest|Lake|Hill|Spring`,
		"way":    `Lane|Street|Road|Avenue|Square|Drive|Court|Walk|Terrace|Way`,
		"firm": `Northwind|Heron|Kestrel|Alder|Polar Ridge|Cobalt|Maple Harbor|Granite Peak|Juniper|Lantern|Copper Field|Tidewater|Larkspur|Stonebridge|
			Silver Birch|Fairweather|Redwood|Blue Fjord|Evergreen|Halcyon`,
		"trade": `Tools|Labs|Freight|Works|Foods|Textiles|Energy|Press|Optics|Logistics|Motors|Studios|Marine|Paper|Robotics|Travel`,
		"thing": `lamp|backpack|bottle|blanket|hose|mug|helmet|stove|jacket|chair|kettle|speaker|notebook|tent|keyboard|scarf|bicycle|mirror|umbrella|toolbox`,
		"kind2": `desk|trail|steel|wool|garden|travel|camping|office|folding|ceramic|bamboo|leather|solar|compact|winter|cotton|wooden|portable`,
		"lang":  `English|Norwegian|Portuguese|Japanese|Swahili|German|Finnish|Korean|Spanish|French|Italian|Polish|Dutch|Turkish|Danish|Swedish`,
		"lang2": `en|no|pt|ja|sw|de|fi|ko|es|fr|it|pl|nl|tr|da|sv`,
		"stem": `orders|notes|report|invoice|meeting|budget|summary|survey|inventory|schedule|contract|roadmap|sensors|draft|agenda|backlog|results|ledger|
			minutes|manual`,
		"dir":  `reports|notes|src|data|docs|images|config|logs|archive|exports|backups|shared|projects|assets|drafts|scripts`,
		"ext":  `csv|md|json|txt|pdf|yaml|xml|html|png|log`,
		"proj": `atlas|juniper|harbor|tidepool|quartz|meadow|lighthouse|cedar|falcon|willow|comet|beacon|ember|lagoon|summit|pebble|orchid|sparrow`,
		"part": `api|ui|cli|core|docs|web|sync|auth|jobs|mail|search|tests`,
		"user": `sam|kim|lee|ana|joe|mia|tom|eva|ben|ida`,
		"site": `example.com|example.org|example.net`,
		"sub":  `shop|api|mail|docs|blog|status|media|news|app|data|files|support`,
		"page": `products|docs|blog|status|news|shop|help|events|pricing|team|archive|guides|reviews|contact|careers|releases`,
		"theme": `solar panels|tea trade|electric ferries|bird migration|low noise fans|urban beekeeping|glacier retreat|sourdough bread|tidal power|night trains|
			coral reefs|bike lanes|heat pumps|river deltas|paper making|wind farms|old maps|chess openings|rooftop gardens|wool dyeing|green roofs|volcanic soil|
			seed storage|lighthouse design`,
		"angle": `history of|cost of|latest news on|guide to|research on|best books about|efficiency of|safety of|market for|rules for|trends in|introduction to`,
		"color": `teal|crimson|amber|navy|olive|coral|indigo|ivory|maroon|turquoise|lavender|charcoal|beige|scarlet|mint|plum`,
		"topic": `travel|finance|gardening|robotics|cooking|history|music|sports|energy|health|science|design|education|politics|weather|economics|nature|
			photography`,
		"genre": `jazz|folk|ambient|classical|blues|drama|comedy|thriller|documentary|fantasy|mystery|romance`,
		"noun": `anchor|basket|beacon|bridge|canyon|cedar|circle|compass|feather|forest|garden|island|kettle|ladder|lantern|marble|meadow|mirror|orchard|paper|
			pebble|pocket|river|saddle|signal|sketch|station|table|timber|valley|window`,
		"adjective": `amber|brisk|calm|copper|early|fresh|gentle|green|harbor|hidden|ivory|late|lively|maple|mellow|misty|north|open|plain|quick|quiet|rapid|royal|
			silver|simple|solid|spare|steady|summer|swift|tall|warm|winter|young`,
		"upname": `Harbor|Juniper|Atlas|Meadow|Falcon|Cedar|Lighthouse|Willow|Quartz|Comet|Ember|Lagoon|Summit|Sparrow|Orchid|Beacon|Tundra|Saffron|Drift|Halo`,
		"upkind": `Review|Plan|Notes|Draft|List|Report|Launch|Workshop|Audit|Update|Meeting|Survey|Guide|Schedule|Proposal|Summary`,
		"upadj":  `Quarterly|Weekly|Annual|Spring|Autumn|Team|Budget|Garden|Harbor|Product|Customer|Site|Travel|Design|Safety|Winter`,
		"who": `the night team|our supplier|the new office|the front desk|the delivery driver|the garden crew|my sister|the committee|the north branch|
			the workshop|our landlord|the band|the second shift|the courier`,
		"did": `confirmed the date|moved the call to Friday|asked for two more chairs|sent the wrong parcel|finished the second draft|found the missing key|
			changed the menu|needs the form by noon|will arrive after ten|wants to see the plans|closed the east gate|is waiting for a reply|
			ordered new lamps|cannot make it on Tuesday`,
		"ask": `please check|please confirm|remember to water|do not forget|have a look at|we should repair|somebody has to label|please pack|I would like to see|
			let us replace|make a copy of|please clean`,
		"object": `the north gate|the old projector|the guest list|the blue folder|the ferry tickets|the spare keys|the stage lights|the final invoice|
			the kitchen plants|the opening speech|the bicycle shed|the second shelf`,
		"when": `before noon|this afternoon|by Thursday|tomorrow morning|after the meeting|next week|before the guests arrive|on Monday|at the end of the month|
			as soon as it rains`,
		"lead": `The Quiet|Northern|Paper|Second|Last|Slow|Copper|Hidden|Winter|Distant|Glass|Silent`,
		"tail": `Harbor|Lights|Boats|Winter|Tram|Tide|Sky|Orchard|Island|Letters|River|Garden`,
		"dish": `lentil soup|rye bread|mushroom risotto|plum cake|fish stew|lemon tart|potato salad|barley porridge|carrot curry|onion pie|bean stew|apple crumble|
			tomato pasta|rice pudding`,
		"beast": `barn owl|red fox|grey seal|alpine ibex|river otter|snow hare|brown bear|house sparrow|tree frog|arctic tern|wild boar|sea turtle`,
		"table": `orders|customers|shipments|invoices|sensors|tickets|products|accounts|sessions|payments|bookings|events`,
		"field": `created_at|total_price|owner|priority|region|quantity|status|updated_at|category|weight|currency|due_date`,
		"zone":  `Europe/Oslo|Asia/Tokyo|America/Toronto|Africa/Nairobi|Australia/Hobart|UTC|Europe/Lisbon|America/Lima|Asia/Seoul|Pacific/Auckland|Europe/Zurich|Africa/Accra`,
		"money": `EUR|USD|CHF|NOK|JPY|CAD|GBP|SEK|KRW|PLN|AUD|DKK|CZK|NZD|BRL|INR`,
		"tick":  `ACME|NOVA|SOLR|KITE|ORCA|TIDE|LUMN|PEAK|FJRD|ALDR|CBLT|HRON|MPLE|QRTZ|BTC|ETH`,
		"air":   `OSL|ZRH|LIS|NBO|KIX|YYZ|MVD|LEJ|PUS|MRS|ORK|TRD|SCL|HBA|CPH|ARN`,
		"hex":   `0|1|2|3|4|5|6|7|8|9|a|b|c|d|e|f`,
	} {
		parts := strings.Split(words, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		m[name] = parts
	}
	return m
}()

// A form is a way to put a value together.
type form []piece

// A piece is a text, a word of a list, or a digit.
type piece struct {
	text string
	list []string
	from int // least digit plus one; 0 means no digit
}

func newForm(s string) form {
	var f form
	for s != "" {
		switch i := strings.IndexAny(s, "<~^"); {
		case i < 0:
			return append(f, piece{text: s})
		case i > 0:
			f = append(f, piece{text: s[:i]})
			s = s[i:]
		case s[0] == '<':
			end := strings.IndexByte(s, '>')
			f = append(f, piece{list: lists[s[1:end]]})
			s = s[end+1:]
		default:
			from := 1
			if s[0] == '^' {
				from = 2
			}
			f = append(f, piece{from: from})
			s = s[1:]
		}
	}
	return f
}

func (f form) value(d *draw.Draws) string {
	if len(f) == 1 && f[0].list != nil {
		return draw.One(d, f[0].list)
	}
	var room [96]byte
	b := room[:0]
	for _, p := range f {
		switch {
		case p.list != nil:
			b = append(b, draw.One(d, p.list)...)
		case p.from > 0:
			b = append(b, byte('0'+d.Between(p.from-1, 9)))
		default:
			b = append(b, p.text...)
		}
	}
	return string(b)
}

// A table is the ways to make a value for some names.
type table []form

func newTable(forms string) table {
	var t table
	for f := range strings.SplitSeq(forms, "|") {
		t = append(t, newForm(f))
	}
	return t
}

func (t table) value(d *draw.Draws) string {
	if len(t) == 1 {
		return t[0].value(d)
	}
	return draw.One(d, t).value(d)
}

// valueTables gives tables by the last words of a parameter's name: a name is looked up by its last two words joined,
// then by its last one, in the singular.
var valueTables = func() map[string]table {
	const (
		hash  = `<hex><hex><hex><hex><hex><hex><hex>`
		hash8 = `<hex><hex><hex><hex><hex><hex><hex><hex>`
	)
	m := make(map[string]table)
	for _, t := range []struct{ names, forms string }{
		{"city town place location destination origin departure arrival", "<city>"},
		{"country nation countryname", "<country>"},
		{"countrycode", "<code2>"},
		{"airport iata airportcode origincode destinationcode", "<air>"},
		{"region state province area county district", "<region>"},
		{"currency basecurrency targetcurrency quotecurrency vscurrency currencycode", "<money>"},
		{"symbol ticker stock asset coin token pair", "<tick>"},
		{"firstname givenname", "<first>"},
		{"lastname surname familyname", "<last>"},
		{"person fullname customer author owner assignee recipient contact employee user speaker artist sender player guest patient teacher student",
			"<first> <last>"},
		{"username login handle account nickname screenname", "<handle>.<low>|<handle>_~~|<handle><^~>|<low>_<handle>"},
		{"company organization organisation org vendor supplier brand companyname employer manufacturer merchant", "<firm> <trade>"},
		{"product item sku article productname itemname", "<kind2> <thing>"},
		{"language lang locale sourcelanguage targetlanguage", "<lang>"},
		{"languagecode langcode", "<lang2>"},
		{"path filepath file filename source documentpath src dst input output attachment",
			"<dir>/<stem>.<ext>|<dir>/<stem>-20~~.<ext>|<dir>/<proj>/<stem>.<ext>"},
		{"dir directory folder repopath workspace projectpath root rootpath outputdir", "/home/<user>/<dir>/<proj>|/srv/<dir>/<proj>|/opt/<proj>/<dir>"},
		{"query q search searchquery searchterm keyword term subject searchtext question theme", "<angle> <theme>|<theme>|<theme> in <country>"},
		{"email mail emailaddress recipientemail", "<handle>.<low>@<site>|<handle>@<site>|<low>~~@<site>"},
		{"url uri link website webpage homepage endpoint href webhook imageurl",
			"https://<site>/<page>/<proj>|https://<sub>.<site>/<page>|https://<site>/<page>/^~~|https://<sub>.<site>/<page>?page=^"},
		{"domain hostname host server site sitename", "<sub>.<site>|<proj>.<site>"},
		{"ip ipaddress", "192.0.2.^~|198.51.100.^~|203.0.113.1~~"},
		{"color colour background backgroundcolor", "<color>"},
		{"title headline heading label caption", "<upadj> <upkind>|<upname> <upkind>|<upadj> <upkind> 202^"},
		{"message text content body note comment description summary prompt reason feedback bio details detail caption instruction paragraph caption reply post",
			"<who> <did>|<ask> <object> <when>|<who> <did>, so <ask> <object>|<ask> <object>, <who> <did>"},
		{"name displayname newname tagname groupname", "<upname> <upkind>|<upname> ^~|<upadj> <upname>"},
		{"project projectname repo repository reponame app application package module library plugin service", "<proj>-<part>|<proj>|<proj>-<proj>"},
		{"branch branchname ref base head", "main|feature/<proj>-<part>|fix/<part>-<stem>|release/^.~|<handle>/<part>-<stem>"},
		{"tag category genre kind group section topic department industry", "<topic>|<genre>|<topic>"},
		{"status", "<status>"},
		{"address street streetaddress", "^~ <tree> <way>|^ <tree> <way>|^~~ <tree> <way>, <city>"},
		{"zip zipcode postcode postalcode", "^~~~|^~~~~"},
		{"phone phonenumber mobile telephone", "+47 555 0~ ~~~|+41 555 0~ ~~~|+1 555 01~ ~~~~|+49 555 0~ ~~~"},
		{"timezone tz", "<zone>"},
		{"version release", "^.~.~|^.^~.~|0.^.~"},
		{"network chain blockchain", "ethereum|polygon|arbitrum|optimism|base|avalanche|solana|gnosis|celo|fantom|linea|scroll"},
		{"model modelname", "<proj>-small|<proj>-large|<proj>-^|<proj>-mini|<proj>-v^"},
		{"format extension filetype mimetype", "<ext>"},
		{"database db schema databasename", "inventory|analytics|billing|archive|telemetry|<proj>_<table>|<proj>_db"},
		{"table collection index tablename indexname collectionname bucket dataset indexuid", "<table>|<table>_20~~|<proj>_<table>"},
		{"field column property attribute propertyname", "<field>"},
		{"key", "<proj>.<field>|<proj>_<part>|<part>.<field>"},
		{"sql statement", "SELECT <field> FROM <table>|SELECT <field> FROM <table> LIMIT ^~|SELECT COUNT(*) FROM <table>"},
		{"command cmd", "ls -la <dir>|git log -^|df -h /srv/<dir>|make <part>|cat <dir>/<stem>.txt|du -sh <dir>"},
		{"code script expression formula", "print(^ * ^~)|x = ^~ + ^|sum([^, ^, ^])|^ * (^ + ^~)"},
		{"selector", "#<part>-button|.<part>-title|#<stem>-list|nav a.<part>|main h^"},
		{"password secret apikey accesstoken secretkey passphrase credential", "demo-key-~~~~|demo-<proj>-~~~"},
		{"interval period timeframe range duration window", "1d|1h|15m|1w|30m|4h|5m|2h|12h|3d|2w|1m"},
		{"unit units", "metric|imperial|kilometers|miles|celsius|kilograms|liters|meters|pounds|hours"},
		{"movie film show series", "<lead> <tail>"},
		{"song track album playlist", "<lead> <tail>|<upname> in <city>"},
		{"book novel", "<lead> <tail>|The <upname> of <city>"},
		{"food ingredient recipe dish meal", "<dish>"},
		{"species animal breed", "<beast>"},
		{"day weekday", "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"},
		{"month", "January|February|March|April|May|June|July|August|September|October|November|December"},
		{"wallet walletaddress contractaddress tokenaddress publickey", "0x" + hash8 + hash8 + hash8 + hash8 + hash8},
		{"hash txhash commit sha", hash},
		{"order sortorder orderdirection direction", "asc|desc"},
		{"sort sortby orderby sortfield", "<field>"},
		{"gender", "female|male|nonbinary"},
	} {
		made := newTable(strings.ReplaceAll(strings.ReplaceAll(t.forms, "<^~>", "^~"), "<status>", "open|closed|pending|active|archived|draft|blocked|done"))
		for name := range strings.FieldsSeq(t.names) {
			if m[name] == nil { // the first table wins
				m[name] = made
			}
		}
	}
	return m
}()

// Names of dates; from, since and until mean one only where the description says so.
var dateNames = names.WordSet("date startdate enddate duedate birthdate birthday deadline from since until")

var phrase = newTable("<adjective> <noun>")
