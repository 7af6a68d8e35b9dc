// Package openapisource reads the operations of OpenAPI documents, versions 2.0, 3.0 and 3.1 in JSON and YAML, as tools
// of package midtool.
//
// # What becomes a tool
//
// Each operation is one tool, named by its operationId, or by its method and path with everything but letters, digits
// and hyphens as "_" (get_pets_petId). Parameters of the path and of the operation are merged by name and place, the
// operation's win; those of the query and of the path become properties. A body is taken as JSON, else as a type ending
// in +json, else as any type, else as a form. The properties of a body that is an object, also one put together by
// allOf, become properties of the tool; any other body is the property "body". A name that is taken gets the prefix
// "body_" (or "query_", "path_"). Properties are required if they are parameters that are, or if both the body and the
// property in it are; a property of the body that is only read is left out. Returns is the schema of the smallest status
// of success with JSON. Methods that are safe in HTTP make a tool ReadOnly.
//
// What a call cannot say stands in Lossy, beside the steps of [midtool.Normalize]: header_parameter:NAME,
// cookie_parameter:NAME, security:SCHEME, read_only:NAME, body_dropped:TYPE, parameter_dropped:NAME (without a name or a
// place), path_parameter_added:NAME (in the path and not declared), reference_cut:NAME and returns_dropped:REASON.
// Origin names the file and the line of the operation, the version of the API as the Revision, and the SHA-256 of the
// document.
//
// References are followed inside the document. Schemas that are referred to, those that lead back to themselves too,
// come along under "$defs", the nearest first up to 64 KiB; beyond, they accept everything (reference_cut), since all of
// a large API is often reachable from one schema. What says nothing to JSON Schema (discriminator, xml, x- members) is
// left out, and an "example" becomes "examples".
//
// # What is left out
//
// Nothing without a [midtool.Rejection] to [Source].Skip. Reasons of documents: not_openapi, syntax, invalid_utf8,
// too_large, too_deep, unreadable, older_version; of operations: deprecated, bad_operation, remote_ref (a reference
// leaves the document), bad_ref, body_type (a body is required and is neither JSON nor a form), too_large, and those of
// [midtool.Normalize].
//
// # Versions of one API
//
// Of several files for one API the one with the highest info.version is read: by the dotted number it begins with, then
// by a date in it, a release above a pre-release, then by path. Files named openapi or swagger in folders named like
// versions belong together (PROVIDER/SERVICE/1.2.0/openapi.yaml, as in the APIs-guru directory); elsewhere, files of one
// folder with one title.
//
// # License
//
// That of info.license: the SPDX identifier of version 3.1, else the license whose text stands at its address, else its
// name. A document that names none has none: what a directory of definitions says about itself is no license of the
// API's own words.
//
// # Method
//
// What becomes a tool follows the standard, OpenAPI 2.0 to 3.1; everything on broken documents, on names and on versions
// is ours. Documents are walked as they are written. Two libraries were tried: github.com/getkin/kin-openapi v0.153.0
// and github.com/pb33f/libopenapi v0.42.0. Both refuse a whole document for one fault, such as a version written as a
// number, parameters that are no list or a key written twice, and a typed model loses keywords and rounds numbers. Here
// one bad operation costs one operation, keys keep their order and numbers their digits. The price is that nothing is
// validated against the standard.
//
// # Guarantees, cost, determinism
//
// Equal files and options give equal tools in an equal order. Documents of strangers are bounded: 32 MiB
// ([Source].MaxBytes), 2 million values after aliases are followed, 256 levels, and for one document 64 times its size
// of schemas in all. Links do not lead out of a folder. One document is held at a time; in YAML it takes some twenty
// times its size in memory. Time is linear in what is read and written; to find the newest version, files that may be
// versions of one API are read twice.
package openapisource
