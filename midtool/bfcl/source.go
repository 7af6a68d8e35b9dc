package bfcl

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// The patterns of source text that the reference converts. A text that fits none stays a string.
var (
	integerText = regexp.MustCompile(`^-?[0-9]+$`)
	longText    = regexp.MustCompile(`^-?[0-9]+[lL]$`)
	bigintText  = regexp.MustCompile(`^-?[0-9]+n$`)
	doubleText  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	floatText   = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?[fF]$`)
	jsFloatText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

	javaArray   = regexp.MustCompile(`new\s+\w+\[\]\s*\{(.*?)\}`)
	javaAsList  = regexp.MustCompile(`new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)`)
	javaAdds    = regexp.MustCompile(`(?s)new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}`)
	javaAdd     = regexp.MustCompile(`add\((.+?)\)`)
	javaNewList = regexp.MustCompile(`new\s+ArrayList<\w*>\(\)`)
	javaPuts    = regexp.MustCompile(`(?s)new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}`)
	javaPut     = regexp.MustCompile(`put\("(.*?)",\s*(.*?)\)`)
	javaNewMap  = regexp.MustCompile(`new\s+HashMap<.*?>\s*\(\)`)

	jsRows   = regexp.MustCompile(`^(?:\[\s*\[.*?\]\s*(?:,\s*\[.*?\]\s*)*\]|new\s+Array\(\s*\[.*?\]\s*(?:,\s*\[.*?\]\s*)*\))`)
	jsRow    = regexp.MustCompile(`\[(.*?)\]`)
	jsArray  = regexp.MustCompile(`^(?:\[(.*?)\]|new\s+Array\((.*?)\))`)
	jsObject = regexp.MustCompile(`^\{(.*?)\}`)
)

// javaValue converts Java source text to a value of the declared type. Text that does not convert stays a string. It
// returns false for the types that the reference knows and raises at.
func javaValue(text, declared, element string) (jsonval.Value, bool) {
	switch declared {
	case "byte", "short", "integer":
		return numeral(integerText, text, "", false), true
	case "long":
		return numeral(longText, text, "lL", false), true
	case "float":
		return numeral(floatText, text, "fF", true), true
	case "double":
		return numeral(doubleText, text, "", true), true
	case "boolean":
		return truth(text), true
	case "Array":
		if m := javaArray.FindStringSubmatch(text); m != nil {
			return javaElements(strings.Split(m[1], ","), element, true)
		}
	case "ArrayList":
		if m := javaAsList.FindStringSubmatch(text); m != nil {
			return javaElements(strings.Split(m[1], ","), element, false)
		}
		if m := javaAdds.FindStringSubmatch(text); m != nil {
			var texts []string
			for _, add := range javaAdd.FindAllStringSubmatch(m[1], -1) {
				texts = append(texts, add[1])
			}
			return javaElements(texts, element, false)
		}
		if javaNewList.MatchString(text) {
			return jsonval.NewList(), true
		}
	case "HashMap":
		if m := javaPuts.FindStringSubmatch(text); m != nil {
			var pairs [][2]string
			for _, put := range javaPut.FindAllStringSubmatch(m[1], -1) {
				pairs = append(pairs, [2]string{put[1], strings.TrimSpace(put[2])})
			}
			return object(pairs, javaLiteral), true
		}
		if javaNewMap.MatchString(text) {
			return jsonval.NewObject(), true
		}
	case "Set", "Queue", "Stack", "Hashtable":
		return jsonval.Value{}, false
	}
	return jsonval.NewString(text), true
}

// javaElements converts the elements of a list. Those of an array keep their quotes and may be empty, as in the reference.
func javaElements(texts []string, element string, array bool) (jsonval.Value, bool) {
	list := jsonval.NewList()
	for _, e := range texts {
		e = strings.TrimSpace(e)
		v, ok := jsonval.Value{}, true
		switch {
		case array && e == "":
			continue
		case element == "":
			v = javaLiteral(e)
		case !array && (element == "char" || element == "String"):
			v = jsonval.NewString(inner(e))
		default:
			v, ok = javaValue(e, element, "")
		}
		if !ok {
			return list, false
		}
		list.List = append(list.List, v)
	}
	return list, true
}

// inner is a text without its first and last character.
func inner(text string) string {
	_, first := utf8.DecodeRuneInString(text)
	_, last := utf8.DecodeLastRuneInString(text)
	if first+last > len(text) {
		return ""
	}
	return text[first : len(text)-last]
}

// javaLiteral converts by the look of the text alone.
func javaLiteral(text string) jsonval.Value {
	switch {
	case text == "true", text == "false":
		return truth(text)
	case quoted(text, '"'):
		return jsonval.NewString(inner(text))
	case longText.MatchString(text):
		return numeral(longText, text, "lL", false)
	case floatText.MatchString(text):
		return numeral(floatText, text, "fF", true)
	default:
		return pythonNumber(text)
	}
}

// javaScriptValue converts JavaScript source text to a value of the declared type, as javaValue does.
func javaScriptValue(text, declared, element string) jsonval.Value {
	switch declared {
	case "String":
		return unquote(text)
	case "integer":
		return numeral(integerText, text, "", false)
	case "float":
		return numeral(jsFloatText, text, "", true)
	case "Bigint":
		return numeral(bigintText, text, "n", false)
	case "Boolean":
		return truth(text)
	case "array":
		return javaScriptList(strings.TrimSpace(text), element)
	case "dict":
		return javaScriptObject(strings.TrimSpace(text))
	}
	return jsonval.NewString(text)
}

func javaScriptList(text, element string) jsonval.Value {
	list := jsonval.NewList()
	if m := jsRows.FindString(text); m != "" {
		for i, row := range jsRow.FindAllStringSubmatch(m, -1) {
			cells := strings.TrimSpace(row[1])
			if i == 0 {
				cells = strings.TrimPrefix(cells, "[") // of the outer list
			}
			inner := jsonval.NewList()
			for cell := range strings.SplitSeq(cells, ",") {
				inner.List = append(inner.List, javaScriptLiteral(strings.TrimSpace(cell)))
			}
			list.List = append(list.List, inner)
		}
		return list
	}
	m := jsArray.FindStringSubmatch(text)
	if m == nil {
		return jsonval.NewString(text)
	}
	elements := strings.TrimSpace(m[1] + m[2]) // one of them is empty
	if elements == "" {
		return list
	}
	for e := range strings.SplitSeq(elements, ",") {
		if e = strings.TrimSpace(e); element == "" {
			list.List = append(list.List, javaScriptLiteral(e))
		} else {
			list.List = append(list.List, javaScriptValue(e, element, ""))
		}
	}
	return list
}

func javaScriptObject(text string) jsonval.Value {
	m := jsObject.FindStringSubmatch(text)
	if m == nil {
		return jsonval.NewString(text)
	}
	var pairs [][2]string
	for rest := m[1]; rest != ""; {
		key, after, ok := strings.Cut(strings.TrimLeft(rest, ":"), ":")
		if !ok {
			break
		}
		end := memberEnd(after)
		pairs = append(pairs, [2]string{strings.Trim(strings.TrimSpace(key), `'"`), strings.TrimSpace(after[:end])})
		rest = strings.TrimPrefix(after[end:], ",")
	}
	return object(pairs, func(value string) jsonval.Value {
		if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
			return javaScriptList(value, "")
		}
		return javaScriptLiteral(strings.TrimSpace(strings.Trim(value, `'"`)))
	})
}

// memberEnd finds where the value of a member ends: at a comma before another key, so that a list stays whole.
func memberEnd(text string) int {
	for i := 0; i < len(text); {
		comma := strings.IndexByte(text[i:], ',')
		if comma < 0 {
			break
		}
		comma += i
		next, _, _ := strings.Cut(text[comma+1:], ",")
		if strings.LastIndexByte(next, ':') > 0 {
			return comma
		}
		i = comma + 1
	}
	return len(text)
}

// javaScriptLiteral converts by the look of the text alone.
func javaScriptLiteral(text string) jsonval.Value {
	switch {
	case text == "true", text == "false":
		return truth(text)
	case quoted(text, '"'), quoted(text, '\''):
		return jsonval.NewString(inner(text))
	default:
		return pythonNumber(text)
	}
}

// pythonNumber reads what Python's int and float read, apart from digits joined by "_", infinity and NaN.
func pythonNumber(text string) jsonval.Value {
	digits := strings.TrimPrefix(text, "+")
	if integerText.MatchString(digits) {
		return numeral(integerText, digits, "", false)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }) < 0 {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return jsonval.Value{Kind: jsonval.Number, Text: jsonval.FloatText(f)}
		}
	}
	return jsonval.NewString(text)
}

// object makes an object of which the last of equal keys counts.
func object(pairs [][2]string, convert func(string) jsonval.Value) jsonval.Value {
	o := jsonval.NewObject()
	at := make(map[string]int, len(pairs))
	for _, p := range pairs {
		v := convert(p[1])
		if i, known := at[p[0]]; known {
			o.Members[i].Value = v
			continue
		}
		at[p[0]] = len(o.Members)
		o.Members = append(o.Members, jsonval.Pair(p[0], v))
	}
	return o
}

func quoted(text string, quote byte) bool {
	return text != "" && text[0] == quote && text[len(text)-1] == quote
}

func unquote(text string) jsonval.Value {
	if quoted(text, '"') || quoted(text, '\'') {
		text = inner(text)
	}
	return jsonval.NewString(text)
}

func truth(text string) jsonval.Value {
	if text == "true" || text == "false" {
		return jsonval.NewBool(text == "true")
	}
	return jsonval.NewString(text)
}

// numeral converts a text of a pattern to a number, without the suffix that the language demands.
func numeral(pattern *regexp.Regexp, text, suffix string, float bool) jsonval.Value {
	if !pattern.MatchString(text) {
		return jsonval.NewString(text)
	}
	digits := strings.TrimRight(text, suffix)
	if float {
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil { // beyond float64: infinite in the reference, and equal to no accepted value
			return jsonval.Value{Kind: jsonval.Number, Text: "1e999"}
		}
		return jsonval.Value{Kind: jsonval.Number, Text: jsonval.FloatText(f)}
	}
	digits, negative := strings.CutPrefix(digits, "-")
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "":
		digits = "0"
	case negative:
		digits = "-" + digits
	}
	return jsonval.Value{Kind: jsonval.Number, Text: digits}
}

// source writes a number, a boolean or a string as source text that converts back; false for other values.
func source(lang language, declared string, v *jsonval.Value) (string, bool) {
	switch v.Kind {
	case jsonval.Bool:
		return v.Text, true
	case jsonval.String:
		if lang == javaScript && declared == "String" {
			return `"` + v.Text + `"`, true
		}
		return v.Text, true
	case jsonval.Number:
		switch {
		case declared == "long":
			return v.Text + "L", true
		case declared == "Bigint":
			return v.Text + "n", true
		case declared == "float" && lang == java:
			return v.Text + "f", true
		}
		return v.Text, true
	default:
		return "", false
	}
}
