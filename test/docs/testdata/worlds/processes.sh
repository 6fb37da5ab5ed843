# The certificate of the lab's API server serves as the webhook's, too.
pki=$XDG_STATE_HOME/tabard/lab/pki
cp "$pki/kube-apiserver.crt" tls.crt
cp "$pki/kube-apiserver.key" tls.key
kubectl create namespace eks
kubectl create namespace openshift-machine-api
for namespace in eks tabard-system; do
  kubectl -n $namespace create secret tls tabard-webhook-cert --cert=tls.crt --key=tls.key
done
kubectl create namespace tabard-certificate --dry-run=client -o yaml | kubectl apply -f -
kubectl -n tabard-certificate create secret tls tabard-ocm-cert --cert=tls.crt --key=tls.key
