package openai

import (
	"context"
	"time"
)

// SetSleep replaces the waiting between attempts.
func (c *Client) SetSleep(f func(ctx context.Context, d time.Duration) error) { c.sleep = f }
