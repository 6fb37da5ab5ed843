import '@patternfly/react-core/dist/styles/base.css'
import './style.css'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router-dom'
import { start } from './api/client'
import { App } from './shell/App'
import { applyTheme } from './shell/theme'

applyTheme()
// Not in an effect: the code is good for one exchange, and effects may run twice.
const started = start()

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element with the id root')
createRoot(root).render(<BrowserRouter><App started={started} /></BrowserRouter>)
