package openapisource

import (
	"net/url"
	"strconv"
	"strings"
)

// A document is an OpenAPI document that can be walked.
type document struct {
	root *node
	old  bool             // version 2
	refs map[string]*node // by reference: what it leads to, nil for nowhere
	size int              // in bytes
}

// open reads a document, and says what is wrong if it is none.
func open(data []byte) (*document, *fault) {
	root, f := decode(data)
	if f != nil {
		return nil, f
	}
	d := &document{root: root, refs: make(map[string]*node), size: len(data)}
	switch swagger, openapi := root.get("swagger").string(), root.get("openapi").string(); {
	case strings.HasPrefix(openapi, "3"):
	case swagger == "2" || strings.HasPrefix(swagger, "2."):
		d.old = true
	case swagger+openapi != "":
		return nil, &fault{"not_openapi", "version " + strconv.Quote(swagger+openapi) + ", want 2 or 3"}
	default:
		return nil, &fault{"not_openapi", `neither "openapi" nor "swagger" is given`}
	}
	return d, nil
}

// lookup finds what a reference leads to in the document.
func (d *document) lookup(ref string) (*node, *fault) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, &fault{"remote_ref", ref}
	}
	n, known := d.refs[ref]
	if !known {
		n = d.walk(rest)
		d.refs[ref] = n
	}
	if n == nil {
		return nil, &fault{"bad_ref", ref}
	}
	return n, nil
}

// walk follows a JSON Pointer, nil if it leads nowhere.
func (d *document) walk(pointer string) *node {
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	n := d.root
	if pointer == "" {
		return n
	}
	if pointer[0] != '/' {
		return nil
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if n.is(list) {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n.items) {
				return nil
			}
			n = n.items[i]
		} else if n = n.get(part); n == nil {
			return nil
		}
	}
	return n
}

// maxHops is how many references in a row are followed.
const maxHops = 16

// follow goes through references to what is not one. ref is the last of them, empty for none.
func (d *document) follow(n *node) (target *node, ref string, f *fault) {
	for range maxHops {
		r := n.get("$ref")
		if !r.is(text) {
			return n, ref, nil
		}
		ref = r.text
		if n, f = d.lookup(ref); f != nil {
			return nil, ref, f
		}
	}
	return nil, ref, &fault{"bad_ref", ref + " leads through more than " + strconv.Itoa(maxHops) + " references"}
}
