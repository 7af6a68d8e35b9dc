package midtool

import (
	"context"
	"fmt"
)

// ReadTools collects the tools of the sources, in their order. It stops at the first error, which is returned with the
// tools read before it. ctx is checked before each source and handed to it. No sources give no tools.
func ReadTools(ctx context.Context, sources ...Source) ([]Tool, error) {
	var tools []Tool
	for i, s := range sources {
		if err := ctx.Err(); err != nil {
			return tools, fmt.Errorf("midtool: read tools: source %d: %w", i, err)
		}
		if s == nil {
			return tools, fmt.Errorf("midtool: read tools: source %d is nil", i)
		}
		for t, err := range s.Tools(ctx) {
			if err != nil {
				return tools, err
			}
			tools = append(tools, t)
		}
	}
	return tools, nil
}
