import { useSearchParams } from 'react-router-dom'
import { Form, FormGroup, FormSelect, FormSelectOption } from '@patternfly/react-core'
import type { Difference, Operator, VersionDetail } from '../api/types'
import { useRead } from '../api/useRead'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Differences } from './Differences'

// Compare shows what another version asks for more and less. It begins with the upgrade to the
// version on the page.
export function Compare({ operator }: { operator: Operator }) {
  const [params, setParams] = useSearchParams()
  const { versions } = operator
  if (versions.length < 2) return <p>There is only one version.</p>
  const to = params.get('to') ?? operator.chosen?.csv ?? versions[0]?.csv ?? ''
  const from = params.get('from') ?? before(to, versions)
  const choose = (name: 'from' | 'to', csv: string) => setParams((old) => {
    const next = new URLSearchParams(old)
    next.set('from', from)
    next.set('to', to)
    next.set(name, csv)
    return next
  })
  return (
    <>
      <Form className="tabard-compare" onSubmit={(event) => event.preventDefault()}>
        <Pick id="from" label="From" value={from} versions={versions} onPick={(csv) => choose('from', csv)} />
        <Pick id="to" label="To" value={to} versions={versions} onPick={(csv) => choose('to', csv)} />
      </Form>
      {from === to ? <p>Choose two different versions.</p> : <Result id={operator.id} from={from} to={to} />}
    </>
  )
}

function Result({ id, from, to }: { id: string; from: string; to: string }) {
  const asked = new URLSearchParams({ from, to })
  const { data, problem, retry } = useRead<Difference>(`operators/${encodeURIComponent(id)}/diff?${asked}`)
  if (data) return <Differences difference={data} />
  return problem ? <ProblemState problem={problem} retry={retry} level="h3" /> : <Loading what="the comparison" rows={2} />
}

// before is the newest version that upgrades to another one, or the next in the list.
function before(csv: string, versions: VersionDetail[]): string {
  const index = versions.findIndex((version) => version.csv === csv)
  const from = versions[index]?.upgradesFrom.find((other) => versions.some((version) => version.csv === other))
  return from ?? versions[index + 1]?.csv ?? versions[0]?.csv ?? ''
}

interface PickProps { id: string; label: string; value: string; versions: VersionDetail[]; onPick: (csv: string) => void }

function Pick({ id, label, value, versions, onPick }: PickProps) {
  return (
    <FormGroup label={label} fieldId={id}>
      <FormSelect id={id} value={value} onChange={(_event, csv) => onPick(csv)}>
        {versions.map(({ csv, version }) => <FormSelectOption key={csv} value={csv} label={version ?? csv} />)}
      </FormSelect>
    </FormGroup>
  )
}
