import { useEffect } from 'react'
import { useSearchParams } from 'react-router-dom'
import { PageSection, Stack, StackItem, ToggleGroup, ToggleGroupItem } from '@patternfly/react-core'
import type { Installs } from '../api/types'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { useSession } from '../shell/session'
import { PageTitle } from '../shell/PageTitle'
import { Command } from '../states/Command'
import { Loading } from '../states/Loading'
import { Partial } from '../states/Partial'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { count } from '../states/words'
import { NoCluster } from '../workloads/Nothing'
import { InstalledTable } from './InstalledTable'
import { NothingInstalled, NothingNeedsYou } from './Nothing'
import { stageIsKnown } from './words'

export default function InstalledPage() {
  const session = useSession()
  const { data, problem, retry } = useRead<Installs>(session?.hasCluster ? 'installs' : '')
  const hasNoCluster = session && !session.hasCluster
  return (
    <PageSection>
      <Stack hasGutter>
        <StackItem><PageTitle title="Installed" /></StackItem>
        {data && <Stale readAt={data.readAt} problem={problem} retry={retry} />}
        {hasNoCluster && <NoCluster toSee="what is installed there" />}
        {data && <List data={data} retry={retry} />}
        {!data && !hasNoCluster && (problem ? <ProblemState problem={problem} retry={retry} /> : <Loading what="what is installed" />)}
      </Stack>
    </PageSection>
  )
}

function List({ data, retry }: { data: Installs; retry: () => void }) {
  const [params, setParams] = useSearchParams()
  const onlyNeedy = params.get('needs') === 'you'
  const needy = data.items.filter(({ needsYou }) => needsYou)
  const isAllKnown = data.partly.length === 0 && data.items.every(({ stage }) => stageIsKnown(stage))
  const shown = onlyNeedy ? needy : data.items
  const summary = `${shown.length.toLocaleString('en')} of ${count(data.items.length, 'install', 'installs')}${data.partly.length > 0 ? ' of what could be read' : ''}`
  useEffect(() => announce(summary), [summary])
  return (
    <>
      <Partial findings={data.partly.map((message) => ({ code: 'partly', message }))} retry={retry} />
      {data.items.length > 0 && (
        <ToggleGroup aria-label="Which are shown">
          <ToggleGroupItem text={`All (${data.items.length})`} isSelected={!onlyNeedy} onChange={() => setParams({})} />
          <ToggleGroupItem text={`Needs you (${needy.length})`} isSelected={onlyNeedy} onChange={() => setParams({ needs: 'you' })} />
        </ToggleGroup>
      )}
      {shown.length > 0 && <InstalledTable items={shown} />}
      {data.items.length === 0 && data.partly.length === 0 && <NothingInstalled />}
      {data.items.length > 0 && shown.length === 0 && <NothingNeedsYou isAllKnown={isAllKnown} showAll={() => setParams({})} />}
      <p className="tabard-small">{summary}.</p>
      <Command command={data.command} />
    </>
  )
}
