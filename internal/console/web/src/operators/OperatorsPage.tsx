import { useEffect } from 'react'
import { PageSection, Stack, StackItem } from '@patternfly/react-core'
import type { Operators } from '../api/types'
import { useRead, type Read } from '../api/useRead'
import { NoMatch } from '../lists/NoMatch'
import { Pages } from '../lists/Pages'
import { useQuery, type Query } from '../lists/query'
import { Unread } from '../lists/Unread'
import { useToolbar } from '../lists/useToolbar'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { Command } from '../states/Command'
import { Partial } from '../states/Partial'
import { Stale } from '../states/Stale'
import { NoCatalogue } from './NoCatalogue'
import { OperatorsFilters } from './OperatorsFilters'
import { OperatorsList } from './OperatorsList'
import { hasCards, operatorsList } from './query'
import { matchingInWords, Summary } from './Summary'
import { TokenMode } from './TokenMode'

export default function OperatorsPage() {
  const query = useQuery(operatorsList)
  const read = useRead<Operators>(query.path, { keep: true })
  useEffect(() => {
    if (read.data) announce(matchingInWords(read.data))
  }, [read.data])

  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem><PageTitle title="Operators" /></StackItem>
        <StackItem><TokenMode listReadAt={read.data?.readAt} /></StackItem>
        <StackItem><List query={query} read={read} /></StackItem>
      </Stack>
    </PageSection>
  )
}

function List({ query, read }: { query: Query; read: Read<Operators> }) {
  const { data, problem, loading, retry } = read
  const toolbar = useToolbar(query, read)
  return (
    <Stack hasGutter aria-busy={loading}>
      {data && <Stale readAt={data.readAt} problem={problem} retry={retry} />}
      {data && <Partial findings={data.findings} total={data.findingsTotal} retry={retry} />}
      {toolbar.isShown && <OperatorsFilters last={toolbar.last} data={data} query={query} />}
      {data ? <Found data={data} query={query} /> : <Unread what="the catalogue" whole={hasCards(query) ? '/operators?view=cards' : '/operators'} problem={problem} retry={retry} />}
    </Stack>
  )
}

function Found({ data, query }: { data: Operators; query: Query }) {
  return (
    <>
      {data.items.length > 0 && <OperatorsList data={data} query={query} />}
      {data.items.length === 0 && (data.total === 0 ? <NoCatalogue /> : <NoMatch title="No operator matches" facets={data.facets} matching={data.matching} query={query} />)}
      {data.items.length > 0 && <Pages data={data} query={query} variant="bottom" />}
      <Summary data={data} query={query} />
      <Command command={data.command} />
    </>
  )
}
