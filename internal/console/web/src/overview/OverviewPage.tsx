import { useEffect } from 'react'
import { Button, PageSection, Stack, StackItem } from '@patternfly/react-core'
import type { Overview } from '../api/types'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { useSession } from '../shell/session'
import { Loading } from '../states/Loading'
import { Partial } from '../states/Partial'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { sentence } from '../states/words'
import { NoCluster } from '../workloads/Nothing'
import { useChanged } from '../workloads/useChanged'
import { OverviewDetails } from './OverviewDetails'

export default function OverviewPage() {
  const session = useSession()
  const hasCluster = session?.hasCluster
  const hasNoCluster = session && !hasCluster
  const read = useRead<Overview>(hasCluster ? 'overview' : '', { keep: true })
  const { data, problem, loading, retry } = read
  const live = useChanged(hasCluster ? 'overview' : '', read)
  const said = data?.sentence
  useEffect(() => {
    if (said) announce(sentence(said))
  }, [said])
  const lost = problem ?? live.lost
  return (
    <PageSection>
      <Stack hasGutter aria-busy={loading}>
        <StackItem>
          <PageTitle title="Overview">
            {data && <Button variant="secondary" onClick={retry} isLoading={loading} isAriaDisabled={loading}>Look again</Button>}
          </PageTitle>
        </StackItem>
        {hasNoCluster && <NoCluster toSee="how its links are, and what is to be done" />}
        {data && (
          <>
            {(lost || live.silent) && <Stale readAt={data.readAt} problem={lost} silent={live.silent} retry={retry} />}
            <Partial findings={[...data.partlyPods, ...data.partlyRequests].map((message) => ({ code: 'partly', message }))} retry={retry} />
            <OverviewDetails overview={data} />
          </>
        )}
        {!data && problem && <ProblemState problem={problem} retry={retry} />}
        {!data && !problem && !hasNoCluster && <Loading what="the cluster" rows={8} />}
      </Stack>
    </PageSection>
  )
}
