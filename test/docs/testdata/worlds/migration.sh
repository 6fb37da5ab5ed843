# Controllers of ACK find their roles by CARM. The selectors of a first plan are applied.
eval "$(tabard lab env)"
kubectl delete iamroleselectors,buckets.s3.services.k8s.aws --all -A
cp -r "$ROOT/internal/cli/migrate/testdata/bundle" "$ROOT/internal/cli/migrate/testdata/controllers.yaml" .
kubectl apply -f bundle/definitions.yaml
kubectl wait --for=condition=Established --timeout=60s crd/buckets.s3.services.k8s.aws crd/vpcs.ec2.services.k8s.aws
kubectl apply -f bundle/namespaces.yaml
for file in maps controllers resources; do kubectl apply -f bundle/$file.yaml; done
kubectl apply --server-side --force-conflicts --subresource=status -f bundle/resources.yaml
tabard migrate carm plan --out migration
kubectl apply -f migration/selectors
