// Command openenv serves a reference world over the wire of OpenEnv, to trainers in any language.
//
//	go run ./examples/quickstart/openenv [-listen 127.0.0.1:8000] [-world tooldesk_small] [-sessions N]
//
// It ends on an interrupt: running sessions may finish the message they are at. There is no authorization: whoever reaches the address
// can play.
//
// A client in Python, with the client of OpenEnv (pip install openenv-core):
//
//	import asyncio
//	from openenv.core.generic_client import GenericEnvClient
//
//	async def main():
//	    async with GenericEnvClient(base_url="http://127.0.0.1:8000") as env:
//	        result = await env.reset(episode_id="small-T1-0240")  # names the task
//	        while not result.done:
//	            print(result.observation["text"])
//	            action = result.observation["actions"][0]  # {"name": ..., "args": {...}}
//	            result = await env.step(action)
//	        print(result.reward, result.observation["terminated"])
//
//	asyncio.run(main())
//
// Its client for tools, openenv.core.mcp_client.MCPToolClient, plays as well, by list_tools and call_tool.
//
// An action that is refused is no exception: observation["error"] has its class and message. The verdict is not told; a reward of 1 in the
// end is that of a task that was solved.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/throughline-go/throughline/envharness/openenv"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// patience is how long running sessions may take to end.
const patience = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "openenv:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	set := flag.NewFlagSet("openenv", flag.ContinueOnError)
	set.SetOutput(errs)
	listen := set.String("listen", "127.0.0.1:8000", "`address` to serve on; port 0 takes one that is free")
	name := set.String("world", "tooldesk_small", "`name` of a reference world")
	sessions := set.Int("sessions", 64, "most `episodes` at once")
	if err := set.Parse(args); err != nil {
		return err
	}
	world, err := worlds.Find(*name)
	if err != nil {
		return err
	}
	environments, err := openenv.NewServer(world.New, &openenv.ServerOptions{
		Name:     *name,
		Sessions: *sessions,
		Failed:   func(call string, err error) { log.Printf("%s: %v", call, err) }, // clients are told the kind alone
	})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: environments, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(out, "%s at http://%s\n", *name, listener.Addr())
	select {
	case err := <-served: // the address is gone
		return err
	case <-ctx.Done():
	}
	fmt.Fprintln(out, "shutting down")
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err = errors.Join(environments.Shutdown(end), server.Shutdown(end)) // sessions first: the server does not know of them
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return err
}
