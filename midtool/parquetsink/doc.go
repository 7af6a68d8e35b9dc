// Package parquetsink writes corpora of package format as Parquet files and reads them back.
package parquetsink
