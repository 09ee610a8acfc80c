import { VaultError } from '../../lib/base/error.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Hosts } from './host.ts';

/** Whether a request reaches a path. Throws 421 `misdirected_request`. */
export type MayReach = (request: Request, family: Place | undefined, isAdminListener: boolean) => boolean;

interface Place {
  readonly path: string;
  readonly isAdmin: boolean;
}

/**
 * With `ADMIN_PORT`, only its listener serves the operator's paths, and of the others only `/readyz`. Without it, the
 * operator's paths require one of the vault's own hosts: a page that reaches this port by DNS rebinding may run in a
 * browser on this machine, whose address opens `/metrics`.
 */
export function createAdminRule({ adminPort }: Pick<Config, 'adminPort'>, hosts: Hosts): MayReach {
  if (adminPort !== undefined)
    return (_, family, isAdminListener) =>
      family === undefined || family.path === '/readyz' || family.isAdmin === isAdminListener;
  return (request, family) => {
    if (family?.isAdmin && !hosts.isOwn(request)) throw new VaultError('misdirected_request');
    return true;
  };
}

/** Whether a path is the operator's: metrics and console. */
export function isAdminPath(path: string): boolean {
  return /^\/(?:metrics|console|v1\/console)(?:\/|$)/.test(path);
}
