import { Suspense, type ReactNode } from 'react'
import { useLocation } from 'react-router-dom'
import { Page, PageSection, SkipToContent } from '@patternfly/react-core'
import { useRead } from '../api/useRead'
import type { Session } from '../api/types'
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
        {/* Without the session, pages would wait for it for ever. */}
        {session.problem && !session.data ? (
          <PageSection>
            <PageTitle title="The session could not be read" />
            <ProblemState problem={session.problem} retry={session.retry} />
          </PageSection>
        ) : (
          <Broken path={pathname}>
            <Suspense fallback={<PageSection><Loading what="the page" /></PageSection>}>{children}</Suspense>
          </Broken>
        )}
      </Page>
    </SessionContext.Provider>
  )
}

// The address keeps what it says: a fragment would be lost by the filters, which write the address.
function toMain(event: { preventDefault: () => void }) {
  event.preventDefault()
  document.getElementById(main)?.focus()
}
