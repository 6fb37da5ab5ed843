package s3

import (
	"net/http"
	"slices"
)

// requireOwner refuses callers of other accounts that a bucket policy lets in:
// a bucket's policy is managed from its own account only.
func (r *request) requireOwner() *fault {
	if r.Caller.Principal.AccountID != r.bucket.accountID {
		return errMethodNotAllowed.with("Method", r.HTTP.Method).with("ResourceType", "BUCKETPOLICY")
	}
	return nil
}

func (s *Service) getBucketPolicy(r *request) (*answer, *fault) {
	if f := r.requireOwner(); f != nil {
		return nil, f
	}
	if r.bucket.policy == nil {
		return nil, errNoSuchBucketPolicy.with("BucketName", r.bucket.name)
	}
	a := empty(http.StatusOK)
	a.header.Set("Content-Type", "application/json")
	a.body = r.bucket.document
	return a, nil
}

// putBucketPolicy replaces the policy. BlockPublicPolicy, of the bucket or its
// account, refuses one that is public.
func (s *Service) putBucketPolicy(r *request) (*answer, *fault) {
	if f := r.requireOwner(); f != nil {
		return nil, f
	}
	policy, f := s.checkPolicy(r.bucket.name, r.Payload)
	if f != nil {
		return nil, f
	}
	if policy.IsPublic() && s.accessBlock(r.bucket).BlockPublicPolicy {
		return nil, errAccessDenied.saying(
			refusal(r.Caller.Principal.ARN, "s3:PutBucketPolicy", r.target.bucketARN()) +
				"because public policies are prevented by the BlockPublicPolicy setting in S3 Block Public Access.")
	}
	r.bucket.policy, r.bucket.document = policy, slices.Clone(r.Payload)
	return empty(http.StatusNoContent), nil
}

func (s *Service) deleteBucketPolicy(r *request) (*answer, *fault) {
	if f := r.requireOwner(); f != nil {
		return nil, f
	}
	r.bucket.policy, r.bucket.document = nil, nil
	return empty(http.StatusNoContent), nil
}

func (s *Service) getBucketPolicyStatus(r *request) (*answer, *fault) {
	if r.bucket.policy == nil {
		return nil, errNoSuchBucketPolicy.with("BucketName", r.bucket.name)
	}
	return document(policyStatus{IsPublic: r.bucket.policy.IsPublic()})
}

func (s *Service) getPublicAccessBlock(r *request) (*answer, *fault) {
	if r.bucket.block == nil {
		return nil, errNoSuchAccessBlock.with("BucketName", r.bucket.name)
	}
	return document(newAccessBlock(r.bucket.block))
}

// putPublicAccessBlock replaces all four switches.
func (s *Service) putPublicAccessBlock(r *request) (*answer, *fault) {
	block, f := readAccessBlock(r.Payload)
	if f != nil {
		return nil, f
	}
	r.bucket.block = block
	return empty(http.StatusOK), nil
}

// newAccessBlock is the document of the four switches.
func newAccessBlock(block *PublicAccessBlock) accessBlockConfiguration {
	return accessBlockConfiguration{
		Namespace: namespace, BlockPublicAcls: block.BlockPublicACLs, IgnorePublicAcls: block.IgnorePublicACLs,
		BlockPublicPolicy: block.BlockPublicPolicy, RestrictPublicBuckets: block.RestrictPublicBuckets,
	}
}

// readAccessBlock reads the document that newAccessBlock makes. A switch that is
// not named is off.
func readAccessBlock(payload []byte) (*PublicAccessBlock, *fault) {
	var config accessBlockConfiguration
	if f := parseXML(payload, &config); f != nil {
		return nil, f
	}
	return &PublicAccessBlock{
		BlockPublicACLs: config.BlockPublicAcls, IgnorePublicACLs: config.IgnorePublicAcls,
		BlockPublicPolicy: config.BlockPublicPolicy, RestrictPublicBuckets: config.RestrictPublicBuckets,
	}, nil
}

func (s *Service) deletePublicAccessBlock(r *request) (*answer, *fault) {
	r.bucket.block = nil
	return empty(http.StatusNoContent), nil
}
