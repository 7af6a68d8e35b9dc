// Package spdx finds SPDX identifiers of licenses: in their usual spellings, in their texts, and in the heads of files.
package spdx
