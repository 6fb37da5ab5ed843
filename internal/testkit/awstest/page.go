package awstest

import "context"

// Paginator is one of the SDK's, of clients that have options O.
type Paginator[Page, O any] interface {
	HasMorePages() bool
	NextPage(ctx context.Context, change ...func(*O)) (Page, error)
}

// Pages are the names that each page shows, up to the first error.
func Pages[Page, O any](ctx context.Context, from Paginator[Page, O], names func(Page) []string) (pages [][]string, err error) {
	for from.HasMorePages() {
		page, err := from.NextPage(ctx)
		if err != nil {
			return pages, err
		}
		pages = append(pages, names(page))
	}
	return pages, nil
}

// Each is one field of all items.
func Each[Item any](items []Item, field func(Item) *string) []string {
	out := []string{}
	for _, item := range items {
		out = append(out, *field(item))
	}
	return out
}
