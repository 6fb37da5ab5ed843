import { useEffect } from 'react'
import { useParams, useSearchParams } from 'react-router-dom'
import { Button } from '@patternfly/react-core'
import { announce } from '../shell/announce'
import { Frame } from '../shell/Frame'
import { useSession } from '../shell/session'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { sentence } from '../states/words'
import { AskCall } from './AskCall'
import { ExplainDetails } from './ExplainDetails'
import { NoCluster, ToWorkloads } from './Nothing'
import { useChanged } from './useChanged'
import { useExplanation } from './useExplanation'
import { kindNames, listPathOf, titleOf, type Kind } from './words'

export default function ExplainPage({ kind }: { kind: Kind }) {
  const { ns = '', name = '' } = useParams()
  // With the key, nothing of one workload is shown as another's.
  return <OneWorkload key={`${kind}/${ns}/${name}`} kind={kind} ns={ns} name={name} />
}

// An explanation asks the cluster and AWS a dozen times, so that changes are explained once in ten seconds.
const explainEvery = 10_000

interface Props { kind: Kind; ns: string; name: string }

function OneWorkload({ kind, ns, name }: Props) {
  const session = useSession()
  const [params] = useSearchParams()
  const hasCluster = session?.hasCluster
  const path = `workloads/${kind}/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`
  const read = useExplanation(hasCluster ? path : '', callOf(params))
  const { data, problem, loading, retry, refused } = read
  const live = useChanged(hasCluster ? `${kind}/${ns}/${name}` : '', read, explainEvery)
  const said = data?.sentence
  useEffect(() => {
    if (said) announce(sentence(said))
  }, [said])
  const hasNoCluster = session && !hasCluster
  const isGone = problem?.status === 404
  const lost = problem ?? live.lost
  return (
    <Frame
      way={[{ name: kindNames[kind], to: listPathOf(kind) }, { name: `${ns}/${name}` }]}
      title={titleOf(kind, ns, name)}
      actions={data && <Button variant="secondary" onClick={retry} isLoading={loading} isAriaDisabled={loading}>Look again</Button>}
      isBusy={loading}
    >
      {hasNoCluster && <NoCluster />}
      {data && (
        <>
          {/* The stream follows the pod and its ServiceAccount, and not AWS. */}
          <Stale readAt={data.readAt} problem={lost} silent={live.silent} retry={retry} />
          <ExplainDetails explanation={data} />
        </>
      )}
      {!data && problem && <ProblemState problem={problem} retry={retry} link={isGone && <ToWorkloads />} />}
      {!data && !problem && !hasNoCluster && <Loading what="the explanation" rows={8} />}
      {/* What is wrong with a call is mended here. */}
      {(data || callOf(params) !== '') && <AskCall refused={refused} />}
    </Frame>
  )
}

// callOf is the call of the address, as the API takes it.
function callOf(params: URLSearchParams): string {
  const asked = new URLSearchParams()
  for (const parameter of ['action', 'resource']) {
    for (const value of params.getAll(parameter)) if (value !== '') asked.append(parameter, value)
  }
  return asked.toString()
}
