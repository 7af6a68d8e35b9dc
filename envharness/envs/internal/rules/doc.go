// Package rules has the small rules that the reference worlds share: splits, refusals, schemas and vocabularies that are the same in each.
package rules
