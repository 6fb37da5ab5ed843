import type { ReactNode } from 'react'
import { useParams, useSearchParams } from 'react-router-dom'
import type { Operator } from '../api/types'
import { useRead } from '../api/useRead'
import { Frame } from '../shell/Frame'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { pageOf } from './words'

interface Props {
  // What the page is called without the name of the operator, which is not known at first.
  name: string
  title: (operator: string) => string
  // Whether the page is one below that of the operator.
  isBelow?: boolean
  actions?: (operator: Operator) => ReactNode
  children: (operator: Operator, retry: () => void) => ReactNode
}

// OperatorFrame is a page about the operator of the address, of the version that was chosen.
export function OperatorFrame(props: Props) {
  const { id = '' } = useParams()
  // With the key, nothing of one operator is shown as another's.
  return <OfOne key={id} id={id} {...props} />
}

function OfOne({ id, name, title, isBelow = false, actions, children }: Props & { id: string }) {
  const [params] = useSearchParams()
  const version = params.get('version')
  const path = `operators/${encodeURIComponent(id)}`
  const { data, problem, retry } = useRead<Operator>(version ? `${path}?version=${encodeURIComponent(version)}` : path, { keep: true })
  // The id ends with the name of the package.
  const known = data?.package ?? id.slice(id.lastIndexOf(':') + 1)
  return (
    <Frame
      way={[{ name: 'Operators', to: '/operators' }, ...isBelow ? [{ name: known, to: pageOf(id, version) }, { name }] : [{ name: known }]]}
      title={data ? title(data.chosen?.displayName || data.package) : name}
      actions={data && actions?.(data)}
    >
      {data && problem && <Stale problem={problem} retry={retry} />}
      {data && children(data, retry)}
      {!data && (problem ? <ProblemState problem={problem} retry={retry} /> : <Loading what="the operator" />)}
    </Frame>
  )
}
