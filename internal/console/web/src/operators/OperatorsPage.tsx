import { useEffect } from 'react'
import { Button, PageSection, Stack, StackItem } from '@patternfly/react-core'
import type { Operators } from '../api/types'
import { useRead, type Read } from '../api/useRead'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { Command } from '../states/Command'
import { Loading } from '../states/Loading'
import { Partial } from '../states/Partial'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { Filters } from './Filters'
import { NoMatch } from './NoMatch'
import { OperatorsTable } from './OperatorsTable'
import { Pages } from './Pages'
import { useQuery, type Query } from './query'
import { matchingInWords, Summary } from './Summary'
import { TokenMode } from './TokenMode'

export default function OperatorsPage() {
  const query = useQuery()
  const read = useRead<Operators>(query.path, { keep: true })
  useEffect(() => {
    if (read.data) announce(matchingInWords(read.data))
  }, [read.data])

  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem><PageTitle title="Operators" /></StackItem>
        <StackItem><TokenMode /></StackItem>
        <StackItem><List query={query} read={read} /></StackItem>
      </Stack>
    </PageSection>
  )
}

function List({ query, read: { data, problem, loading, retry } }: { query: Query; read: Read<Operators> }) {
  if (!data && !problem) return <Loading what="the catalogue" rows={8} />
  if (!data) {
    return (
      <>
        {problem && <ProblemState problem={problem} retry={retry} />}
        {query.filtered && <Button variant="link" onClick={query.clear}>Clear all filters</Button>}
      </>
    )
  }
  return (
    <Stack hasGutter aria-busy={loading}>
      <Stale readAt={data.readAt} problem={problem} retry={retry} />
      <Partial findings={data.findings} total={data.findingsTotal} retry={retry} />
      {data.total > 0 && <Filters data={data} query={query} />}
      {data.items.length > 0 ? <OperatorsTable data={data} query={query} /> : <NoMatch data={data} query={query} />}
      {data.items.length > 0 && <Pages data={data} query={query} variant="bottom" />}
      <Summary data={data} query={query} />
      <Command command={data.command} />
    </Stack>
  )
}
