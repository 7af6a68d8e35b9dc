// Package skillsource reads folders of skills (package skill) as documents and tools of a corpus (package midtool).
package skillsource
