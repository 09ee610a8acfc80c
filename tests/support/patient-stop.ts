// Preloaded into `vault serve`: a stop answers what comes for three seconds more instead of three tenths, so that a test
// is there in time on a machine that is busy.
import { STOP_LAST_MS } from '../../commands/serve/stop.ts';

const { sleep } = Bun;
Bun.sleep = (ms) => sleep(ms === STOP_LAST_MS ? 3_000 : ms);
