package openapisource

import "strings"

// licenseAddresses maps where the text of a license stands to its SPDX identifier.
var licenseAddresses = map[string]string{
	"apache.org/licenses/license-2.0": "Apache-2.0", "opensource.org/licenses/apache-2.0": "Apache-2.0",
	"opensource.org/licenses/mit": "MIT", "opensource.org/license/mit": "MIT", "mit-license.org": "MIT",
	"opensource.org/licenses/bsd-2-clause": "BSD-2-Clause", "opensource.org/licenses/bsd-3-clause": "BSD-3-Clause",
	"opensource.org/licenses/isc": "ISC", "creativecommons.org/publicdomain/zero/1.0": "CC0-1.0",
	"creativecommons.org/licenses/by/4.0": "CC-BY-4.0", "creativecommons.org/licenses/by-sa/4.0": "CC-BY-SA-4.0",
}

// licenseOf is what a document says about its license: the identifier of version 3.1, else the license whose text stands
// at the address, else the name as it is given.
func licenseOf(info *node) string {
	l := info.get("license")
	if id := l.get("identifier").string(); id != "" {
		return id
	}
	address := strings.ToLower(l.get("url").string())
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	address = strings.TrimPrefix(address, "www.")
	address = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".html"), ".txt")
	if id, ok := licenseAddresses[address]; ok {
		return id
	}
	return l.get("name").string()
}
