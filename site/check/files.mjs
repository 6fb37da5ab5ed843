import { readFile } from 'node:fs/promises'
import path from 'node:path'

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml' }

// answerFrom has a browser's context get the files of a folder as those of a site, without a
// network. Requests to other hosts fail.
export async function answerFrom(context, folder, site) {
  await context.route('**', async (route) => {
    const asked = new URL(route.request().url())
    if (asked.origin !== site.origin) return route.abort()
    const name = fileOf(asked, site)
    try {
      await route.fulfill({ body: await readFile(path.join(folder, name)), contentType: types[path.extname(name)] ?? 'application/octet-stream' })
    } catch {
      await route.fulfill({ status: 404, body: '' })
    }
  })
}

// fileOf is the file that a plain web server answers an address with, from the site's folder.
// Addresses that are not below the site's have the name of no file.
export function fileOf(address, site) {
  const asked = decodeURIComponent(address.pathname)
  if (!asked.startsWith(site.pathname)) return 'outside' + asked
  const below = asked.slice(site.pathname.length)
  return below === '' || below.endsWith('/') ? below + 'index.html' : below
}
