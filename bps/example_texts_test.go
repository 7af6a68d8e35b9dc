package bps_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/bps"
)

// An index reads and counts the texts once. Here a query names a tool, which its user wants to see whatever else is relevant.
func ExampleNewIndex() {
	tools := []bps.Text{
		{Name: "get_order", Description: "Look up an order and its delivery status"},
		{Name: "find_order", Description: "Find an order of a customer and its status"},
		{Name: "send_email", Description: "Send a message to a customer"},
		{Name: "weather", Description: "Forecast for a city"},
	}
	index, err := bps.NewIndex(tools, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, query := range []string{"what is the delivery status of my order", "tell the customer the status with send_email"} {
		sel, err := index.Select(context.Background(), query, 18, &bps.TextOptions{PinNamed: true})
		if err != nil {
			log.Fatal(err)
		}
		for _, i := range sel.Items {
			fmt.Println(tools[i].Name, sel.Tokens)
		}
	}
	// Output:
	// get_order 17
	// send_email 14
}

// The vectors may come from any embedding model. Items 0 and 1 say nearly the same, so one of them is enough.
func ExampleFromVectors() {
	query := [][]float64{
		{1, 1, 0}, // the whole query
		{1, 0, 0}, // its first clause
		{0, 1, 0}, // its second clause
	}
	items := [][]float64{{0.9, 0.1, 0}, {0.8, 0.1, 0.1}, {0.1, 0.7, 0.2}, {0, 0, 1}}
	sel, err := bps.FromVectors(context.Background(), query, items, []int{120, 100, 150, 80}, 300, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sel.Items, sel.Tokens)
	// Output: [0 2] 270
}
