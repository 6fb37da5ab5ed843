import { Suspense, type ReactNode } from 'react'
import { useLocation } from 'react-router-dom'
import { Page, PageSection, SkipToContent } from '@patternfly/react-core'
import { useEnded } from '../api/ended'
import { useRead } from '../api/useRead'
import type { Problem, Session } from '../api/types'
import { Ended, EndedAlert } from '../states/Ended'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { LiveRegion } from './announce'
import { Broken } from './Broken'
import { Header } from './Header'
import { Navigation } from './Navigation'
import { PageTitle } from './PageTitle'
import { SessionContext } from './session'

const main = 'main'

interface Props { ready: boolean; children: ReactNode }

export function Shell({ ready, children }: Props) {
  const { pathname } = useLocation()
  const session = useRead<Session>(ready ? 'session' : '')
  const over = useEnded().problem
  return (
    <SessionContext.Provider value={session.data}>
      <Page
        masthead={<Header />}
        sidebar={<Navigation />}
        isManagedSidebar
        skipToContent={<SkipToContent href={`#${main}`} onClick={toMain}>Skip to the content</SkipToContent>}
        mainContainerId={main}
        mainAriaLabel="Content"
      >
        <LiveRegion />
        {session.data ? over && <EndedAlert problem={over} /> : <WithoutSession over={over} problem={session.problem} retry={session.retry} />}
        {/* Without the session, pages would wait for it for ever. After its end they keep what was filled in. */}
        {(session.data || !(over ?? session.problem)) && (
          <Broken path={pathname}>
            <Suspense fallback={<PageSection><Loading what="the page" /></PageSection>}>{children}</Suspense>
          </Broken>
        )}
      </Page>
    </SessionContext.Provider>
  )
}

interface WithoutProps { over?: Problem; problem?: Problem; retry: () => void }

// WithoutSession says why there is no page. While the session is read, there is one.
function WithoutSession({ over, problem, retry }: WithoutProps) {
  if (over) return <Ended problem={over} />
  if (!problem) return null
  return (
    <PageSection>
      <PageTitle title="The session could not be read" />
      <ProblemState problem={problem} retry={retry} />
    </PageSection>
  )
}

// The address keeps what it says: a fragment would be lost by the filters, which write the address.
function toMain(event: { preventDefault: () => void }) {
  event.preventDefault()
  document.getElementById(main)?.focus()
}
