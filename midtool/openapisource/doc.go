// Package openapisource reads the operations of OpenAPI documents, versions 2, 3.0 and 3.1, as tools of package midtool.
package openapisource
