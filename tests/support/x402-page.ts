// The pages of docs/x402.md, as an app serves them that lies at another origin than the API.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolPath } from '../../scripts/testing/tools.ts';
import type { AppWorld } from './client-app.ts';
import { documentedBlock } from './x402.ts';

const API = 'https://api.example.com/weather';

/** Serves the page that pays by the client alone. */
export async function putPage(world: AppWorld, path: string, weather: string): Promise<void> {
  world.put(path, (await documentedBlock('vault.pay', 'html')).replaceAll(API, weather));
}

/** Serves a page with the script that pays by `@x402/fetch`, put together as a bundler does it. */
export async function putLibraryPage(world: AppWorld, path: string, weather: string, person: object): Promise<void> {
  const script = (await documentedBlock('fetchPaid', 'js')).replaceAll(API, weather);
  // Beside the packages that it imports.
  const folder = mkdtempSync(toolPath('.x402-page-'));
  try {
    const known = `const person = ${JSON.stringify(person)};\nconst vault = await ${world.client};\n`;
    writeFileSync(join(folder, 'page.js'), known + script);
    const { outputs } = await Bun.build({ entrypoints: [join(folder, 'page.js')], target: 'browser', minify: true });
    const text = ((await outputs[0]?.text()) ?? '').replaceAll('</script', '<\\/script');
    const parts = '<title>Weather</title><button id="ask" type="button">Ask</button><output id="says"></output>';
    world.put(path, `<!doctype html><meta charset="utf-8">${parts}<script type="module">${text}</script>`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
