// Command select picks tools for a request under a token budget, from their texts alone.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/bps"
)

func main() {
	tools := []bps.Text{
		{Name: "get_weather", Description: "Current weather for a city: temperature, wind and rain."},
		{Name: "get_forecast", Description: "Weather forecast for a city for up to ten days: temperature, wind and rain."},
		{Name: "book_flight", Description: "Book a flight between two cities on a date."},
		{Name: "convert_currency", Description: "Convert an amount of money between two currencies."},
	}
	sel, err := bps.FromTexts(context.Background(), "Check the weather in Oslo, then book a flight there.", tools, 60, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range sel.Items {
		fmt.Println(tools[i].Name)
	}
	fmt.Printf("%d tokens", sel.Tokens)
	if c := sel.Certificate; c != nil {
		fmt.Printf(", proven to have at least %.0f %% of the largest possible benefit", 100*c.Ratio)
	}
	fmt.Println()
}
