import { lazy, useEffect, useState } from 'react'
import { Navigate, Route, Routes } from 'react-router-dom'
import { PageSection } from '@patternfly/react-core'
import { ApiError } from '../api/client'
import { end, isOver } from '../api/ended'
import type { Problem } from '../api/types'
import { NotStarted } from '../states/Ended'
import { Loading } from '../states/Loading'
import { NotFound } from './NotFound'
import { useSession } from './session'
import { Shell } from './Shell'

const OverviewPage = lazy(() => import('../overview/OverviewPage'))
const OperatorsPage = lazy(() => import('../operators/OperatorsPage'))
const OperatorPage = lazy(() => import('../operators/OperatorPage'))
const InstalledPage = lazy(() => import('../installed/InstalledPage'))
const InstallPage = lazy(() => import('../installed/InstallPage'))
const UpgradePage = lazy(() => import('../installed/UpgradePage'))
const HandoffPage = lazy(() => import('../handoff/HandoffPage'))
const WorkloadsPage = lazy(() => import('../workloads/WorkloadsPage'))
const ExplainPage = lazy(() => import('../workloads/ExplainPage'))
const TryPage = lazy(() => import('../try/TryPage'))
const InstallWizardPage = lazy(() => import('../install/InstallWizardPage'))

// App shows the pages as soon as there is a session. While the code is exchanged, it shows the frame.
export function App({ started }: { started: Promise<void> }) {
  const [ready, setReady] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  useEffect(() => {
    started.catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      if (isOver(error.problem)) end(error.problem)
      else setProblem(error.problem)
    }).finally(() => setReady(true))
  }, [started])
  return (
    <Shell ready={ready && !problem}>
      {problem ? <NotStarted problem={problem} /> : (
        <Routes>
          <Route path="/" element={<Start />} />
          <Route path="/overview" element={<OverviewPage />} />
          <Route path="/operators" element={<OperatorsPage />} />
          <Route path="/operators/:id" element={<OperatorPage />} />
          <Route path="/operators/:id/install" element={<InstallWizardPage />} />
          <Route path="/operators/:id/handoff" element={<HandoffPage />} />
          <Route path="/installed" element={<InstalledPage />} />
          <Route path="/installed/:ns/:name" element={<InstallPage />} />
          <Route path="/installed/:ns/:name/upgrade" element={<UpgradePage />} />
          <Route path="/workloads" element={<WorkloadsPage />} />
          <Route path="/workloads/pods/:ns/:name" element={<ExplainPage kind="pods" />} />
          <Route path="/workloads/serviceaccounts/:ns/:name" element={<ExplainPage kind="serviceaccounts" />} />
          <Route path="/try" element={<TryPage />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      )}
    </Shell>
  )
}

// Start leads to the first page, which is of the cluster where there is one.
function Start() {
  const session = useSession()
  if (!session) return <PageSection><Loading what="the session" /></PageSection>
  return <Navigate to={session.hasCluster ? '/overview' : '/operators'} replace />
}
