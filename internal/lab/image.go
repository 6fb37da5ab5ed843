package lab

import (
	"context"
)

func (lab Lab) loadOwnImages(ctx context.Context) error {
	_, err := lab.LoadImages(ctx, "/tmp/proto.tar")
	return err
}

func (lab Lab) writeAWSManifests() error { return nil }
