// Starts Chromium.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { chromium } from 'playwright-core'

// launch starts one, with more flags than the usual ones.
export function launch(flags = []) {
  return chromium.launch({ executablePath: browserProgram(), args: [...process.getuid?.() === 0 ? ['--no-sandbox'] : [], ...flags] })
}

function browserProgram() {
  const wanted = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const found = wanted.flatMap((name) => (path.isAbsolute(name) ? [name] : folders.map((folder) => path.join(folder, name)))).find(existsSync)
  if (!found) throw new Error(`found no ${wanted.join(', ')} on the PATH: install Chromium, Debian's package chromium, or name the program with $CHROMIUM`)
  return found
}
