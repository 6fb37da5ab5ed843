import { Link } from 'react-router-dom'
import { Stack, Title } from '@patternfly/react-core'
import type { Overview } from '../api/types'
import { count } from '../states/words'
import { PodsTable } from '../workloads/PodsTable'
import { NotKnown } from './NotKnown'

export function LackingPods({ overview }: { overview: Overview }) {
  const { without, lacking, podsUnknown } = overview
  const more = without - lacking.length
  return (
    <Stack hasGutter component="section" aria-labelledby="lacking">
      <Title headingLevel="h2" id="lacking">Pods without their identity</Title>
      {podsUnknown ? <NotKnown title="Which pods lack their identity is not known" why={podsUnknown} /> : <p>{podsInWords(overview)}</p>}
      {lacking.length > 0 && <PodsTable items={lacking} caption={more > 0 ? `The first ${lacking.length} that lack it` : 'Pods that lack what their ServiceAccount names'} />}
      {more > 0 && <p><Link to="/workloads?standing=without">And {more.toLocaleString('en')} more</Link></p>}
    </Stack>
  )
}

// podsInWords says of all pods how they are: one that asks for nothing lacks nothing, and what is not known is
// not counted as well.
function podsInWords({ pods, given, without, unknown, partlyPods }: Overview): string {
  const read = partlyPods.length > 0 ? ' that could be read' : ''
  if (pods === 0) return read ? 'There is no pod in what could be read.' : 'There are no pods.'
  const rest = pods - given - without - unknown
  const parts = [
    without === 0 ? 'none lacks its identity' : count(without, 'lacks its identity', 'lack their identity'),
    count(given, 'has it', 'have it'),
    ...unknown > 0 ? [count(unknown, 'is not known', 'are not known')] : [],
    ...rest > 0 ? [count(rest, 'asks for none', 'ask for none')] : [],
  ]
  return `Of ${count(pods, 'pod', 'pods')}${read}, ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}.`
}
