package permission

// SetOf is a set that was read from nowhere, with these requests.
func SetOf(subject Subject, requests []Request) Set {
	return subject.set(Source{Kind: SourceLive, Ref: "test"}).with(requests)
}
