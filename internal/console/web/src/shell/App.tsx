import { lazy, useEffect, useState } from 'react'
import { Navigate, Route, Routes } from 'react-router-dom'
import { ApiError, onEnded } from '../api/client'
import type { Problem } from '../api/types'
import { Ended } from '../states/Ended'
import { NotFound } from './NotFound'
import { Shell } from './Shell'

const OperatorsPage = lazy(() => import('../operators/OperatorsPage'))
const OperatorPage = lazy(() => import('../operators/OperatorPage'))
const InstalledPage = lazy(() => import('../installed/InstalledPage'))
const InstallPage = lazy(() => import('../installed/InstallPage'))
const UpgradePage = lazy(() => import('../installed/UpgradePage'))
const HandoffPage = lazy(() => import('../handoff/HandoffPage'))
const InstallWizardPage = lazy(() => import('../install/InstallWizardPage'))

// App shows the pages as soon as there is a session. While the code is exchanged, it shows the frame.
export function App({ started }: { started: Promise<void> }) {
  const [ready, setReady] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  useEffect(() => {
    onEnded(setProblem)
    started.then(() => setReady(true), (error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      setProblem(error.problem)
    })
  }, [started])

  // If the session has not started yet, what is read says so again.
  const again = () => {
    setProblem(undefined)
    setReady(true)
  }
  return (
    <Shell ready={ready && !problem}>
      {problem ? <Ended problem={problem} onOpened={again} /> : (
        <Routes>
          <Route path="/" element={<Navigate to="/operators" replace />} />
          <Route path="/operators" element={<OperatorsPage />} />
          <Route path="/operators/:id" element={<OperatorPage />} />
          <Route path="/operators/:id/install" element={<InstallWizardPage />} />
          <Route path="/operators/:id/handoff" element={<HandoffPage />} />
          <Route path="/installed" element={<InstalledPage />} />
          <Route path="/installed/:ns/:name" element={<InstallPage />} />
          <Route path="/installed/:ns/:name/upgrade" element={<UpgradePage />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      )}
    </Shell>
  )
}
