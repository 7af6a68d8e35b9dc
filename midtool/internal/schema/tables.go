package schema

import (
	"strings"
)

// valueTables gives example values for string parameters by the last words of their name; all of it is made up or
// common knowledge (ours). A name is looked up by its last two words joined, then by its last one, in the singular.
var valueTables = func() map[string][]string {
	m := make(map[string][]string)
	for _, t := range []struct{ names, values string }{
		{"city town place location destination origin departure arrival", "Oslo|Zürich|Lisbon|Nairobi|Kyoto|Toronto|Montevideo|Leipzig|Busan|Marseille|Cork|Tampere|Valparaíso|Hobart|Tromsø|Windhoek"},
		{"country nation countryname", "Norway|Switzerland|Portugal|Kenya|Japan|Canada|Uruguay|Germany|Chile|Ireland|Finland|Namibia"},
		{"countrycode", "NO|CH|PT|KE|JP|CA|UY|DE|CL|IE|FI|NA"},
		{"region state province area", "Bavaria|Ontario|Tasmania|Andalusia|Tuscany|Brittany|Scania|Hokkaido|Otago|Galicia"},
		{"currency basecurrency targetcurrency quotecurrency vscurrency", "EUR|USD|CHF|NOK|JPY|CAD|GBP|SEK|KRW|PLN"},
		{"symbol ticker stock asset coin token pair", "ACME|BTC|ETH|NOVA|SOLR|KITE|ORCA|TIDE|LUMN|PEAK"},
		{"firstname givenname", "Amara|Bjorn|Chiara|Dmitri|Elif|Farid|Greta|Hiro|Ines|Jonas"},
		{"lastname surname familyname", "Okafor|Lindqvist|Moretti|Novak|Yilmaz|Haddad|Keller|Tanaka|Duarte|Meyer"},
		{"person fullname customer author owner assignee recipient contact employee user speaker artist sender player", "Amara Okafor|Bjorn Lindqvist|Chiara Moretti|Elif Yilmaz|Farid Haddad|Greta Keller|Hiro Tanaka|Ines Duarte|Jonas Meyer|Mina Park"},
		{"username login handle account nickname screenname", "amara_ok|bjorn.l|chiara88|elify|fhaddad|gretak|hiro_t|inesd|jmeyer|minapark"},
		{"company organization organisation org vendor supplier brand companyname employer", "Northwind Tools|Blue Heron Labs|Kestrel Freight|Alder and Finch|Polar Ridge|Cobalt Works|Maple Harbor|Granite Peak"},
		{"product item sku article productname itemname", "desk lamp|trail backpack|steel bottle|wool blanket|garden hose|travel mug|bike helmet|camping stove|rain jacket|office chair"},
		{"language lang locale sourcelanguage targetlanguage", "English|Norwegian|Portuguese|Japanese|Swahili|German|Finnish|Korean|Spanish|French"},
		{"languagecode langcode", "en|no|pt|ja|sw|de|fi|ko|es|fr"},
		{"path filepath file filename source documentpath src dst input output", "reports/q3.csv|notes/meeting.md|src/main.go|data/orders.json|docs/setup.md|images/logo.png|config/app.yaml|logs/build.txt"},
		{"dir directory folder repopath workspace projectpath root rootpath outputdir", "/home/sam/projects/atlas|/srv/data/archive|/home/kim/reports|/opt/tools/sandbox|/var/backups/weekly|/home/lee/site"},
		{"query q search searchquery searchterm keyword term topic subject searchtext question theme", "solar panel efficiency|history of tea trade|electric ferry routes|bird migration maps|low noise fans|urban beekeeping rules|glacier retreat data|sourdough starter care|tidal power costs|night train timetables"},
		{"email mail emailaddress recipientemail", "amara@example.com|bjorn@example.org|chiara@example.net|elif@example.com|farid@example.org|greta@example.net"},
		{"url uri link website webpage homepage endpoint href webhook imageurl", "https://example.com/products|https://example.org/docs/start|https://example.net/blog/42|https://example.com/status|https://example.org/news/today|https://example.net/shop?page=2"},
		{"domain hostname host server site sitename", "example.com|shop.example.org|api.example.net|mail.example.com|docs.example.org"},
		{"ip ipaddress", "192.0.2.17|198.51.100.8|203.0.113.45|192.0.2.201|198.51.100.99"},
		{"color colour background backgroundcolor", "teal|crimson|amber|navy|olive|coral|indigo|ivory"},
		{"title headline heading label caption", "Quarterly review|Garden plan|Release notes|Team lunch|Harbor walk|Budget draft|Reading list|Site visit"},
		{"message text content body note comment description summary prompt reason feedback bio details caption instruction", "please check the north gate|the parcel arrived this morning|we moved the call to Friday|the second draft is ready|keep the old version for now|the lights stay on until ten|two chairs are still missing|ask the team before noon"},
		{"name displayname newname tagname groupname", "Harbor|Juniper|Atlas|Meadow|Falcon|Cedar|Lighthouse|Willow|Quartz|Comet"},
		{"project projectname repo repository reponame app application package module library plugin service", "atlas|juniper-api|harbor-ui|tidepool|quartz-cli|meadow|lighthouse|cedar-docs"},
		{"branch branchname ref base head", "main|develop|feature/login|fix/timeouts|release/2.4|docs/setup"},
		{"tag category genre kind group section topic department industry", "travel|finance|gardening|robotics|cooking|history|music|sports|energy|health"},
		{"status", "open|closed|pending|active|archived|draft"},
		{"address street streetaddress", "12 Birch Lane|48 Harbor Street|7 Mill Road|230 Cedar Avenue|5 Station Square|91 Meadow Drive"},
		{"zip zipcode postcode postalcode", "0150|8001|10115|94107|00100|7005"},
		{"phone phonenumber mobile telephone", "+47 555 01 234|+41 555 02 345|+1 555 010 7788|+49 555 03 456|+81 555 04 567"},
		{"timezone tz", "Europe/Oslo|Asia/Tokyo|America/Toronto|Africa/Nairobi|Australia/Hobart|UTC"},
		{"version release", "1.4.2|2.0.0|3.1.7|0.9.5|5.2.1|10.0.3"},
		{"network chain blockchain", "ethereum|polygon|arbitrum|optimism|base|avalanche"},
		{"model modelname", "atlas-small|juniper-7|cedar-large|quartz-mini"},
		{"format extension filetype mimetype", "json|csv|pdf|xml|markdown|png"},
		{"database db schema databasename", "inventory|analytics|billing|archive|telemetry"},
		{"table collection index tablename indexname collectionname bucket dataset indexuid", "orders|customers|shipments|invoices|sensors|tickets"},
		{"field column property attribute key propertyname", "created_at|total_price|owner|priority|region|quantity"},
		{"sql statement", "SELECT id FROM orders|SELECT name FROM customers|SELECT total FROM invoices"},
		{"command cmd", "ls -la|git status|df -h|uptime|make test"},
		{"code script expression formula", "print(6 * 7)|x = 3 + 4|sum([1, 2, 3])|2 * (5 + 3)"},
		{"selector", "#submit|.card-title|#search-box|nav a.active|main h1"},
		{"password secret token apikey accesstoken secretkey passphrase credential", "demo-key-4821|demo-key-7350|demo-key-1197|demo-key-6604"},
		{"interval period timeframe range duration window", "1d|1h|15m|1w|30m|4h"},
		{"unit units", "metric|imperial|kilometers|miles"},
		{"movie film show series", "The Quiet Harbor|Northern Lights|Paper Boats|Second Winter"},
		{"song track album", "Slow Tide|Copper Sky|Last Tram Home|Juniper"},
		{"food ingredient recipe dish", "lentil soup|rye bread|mushroom risotto|plum cake|fish stew"},
		{"species animal breed", "barn owl|red fox|grey seal|alpine ibex"},
		{"day weekday", "Monday|Tuesday|Wednesday|Thursday|Friday"},
		{"month", "January|March|May|August|October|December"},
		{"wallet walletaddress contractaddress tokenaddress publickey", "0x52908400098527886E0F7030069857D2E4169EE7|0x8617E340B3D01FA5F11F306F4090FD50E238070D|0xde709f2102306220921060314715629080e2fb77"},
		{"hash txhash commit sha", "9f2c4e1|b71d03a|4c88fe2|e05a97b|1d6b3c0"},
		{"date startdate enddate duedate birthdate from since until deadline", "2027-03-03|2026-11-17|2027-01-29|2026-09-08|2027-06-21|2026-12-05"},
	} {
		for name := range strings.FieldsSeq(t.names) {
			if m[name] == nil { // the first table wins
				m[name] = strings.Split(t.values, "|")
			}
		}
	}
	return m
}()

var (
	adjectives = strings.Fields(`amber brisk calm copper early fresh gentle green harbor hidden ivory late lively maple mellow misty north
		open plain quick quiet rapid royal silver simple solid spare steady summer swift tall warm winter young`)
	plainNouns = strings.Fields(`anchor basket beacon bridge canyon cedar circle compass feather forest garden island kettle ladder lantern
		marble meadow mirror orchard paper pebble pocket river saddle signal sketch station table timber valley window`)
)
