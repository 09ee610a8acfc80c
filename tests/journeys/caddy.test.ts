import { programAt, startCaddy } from '../support/proxies.ts';
import { describeProxy } from './proxied.ts';

const program = programAt('caddy');

describeProxy('behind a real Caddy', program, startCaddy);
