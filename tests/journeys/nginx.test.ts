import { afterAll, beforeAll, describe } from 'bun:test';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { type FrontProxy, programAt, startNginx } from '../support/proxies.ts';
import { addProxyTests, PROXIED, withoutPathRules } from './proxied.ts';

const program = programAt('nginx');

if (program) {
  describe('behind a real nginx', () => {
    const folder = temporaryFolder();
    let vaults: Program[];
    let proxies: FrontProxy[];

    beforeAll(async () => {
      const vars = { ...PROXIED, DATA_DIR: folder.path };
      vaults = [
        await startProgram(vars, { cwd: folder.path }),
        await startProgram({ ...vars, ADMIN_PORT: '0' }, { cwd: folder.path }),
      ];
      const [open, split] = vaults.map(({ url }) => url) as [string, string];
      proxies = [
        await startNginx({ program, folder: folder.path, upstream: open }),
        await startNginx({ program, folder: folder.path, upstream: split, edit: withoutPathRules }),
      ];
    });
    afterAll(async () => {
      await Promise.all([...(proxies ?? []), ...(vaults ?? [])].map((one) => one.stop()));
      folder.remove();
    });

    addProxyTests(() => {
      const [proxy, ruleless] = proxies as [FrontProxy, FrontProxy];
      const vault = Number(new URL((vaults[0] as Program).url).port);
      return { proxy: proxy.port, vault, ruleless: ruleless.port, log: proxy.log };
    });
  });
} else console.log('no nginx on this machine: its tests are left out');
