/** Whether an address is a contract: https://eips.ethereum.org/EIPS/eip-1474 */
import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import type { ChainReader } from './rpc.ts';

/** Whether an address has code in the newest block. Throws 502 `rpc_error`. */
export async function hasCode(chain: ChainReader, address: string): Promise<boolean> {
  return (await readCode(chain, address)) !== '0x';
}

/** The code of an address in a block (a tag or a quantity), lower-case; `0x` without. Throws 502 `rpc_error`. */
export async function readCode({ config, rpc }: ChainReader, address: string, block = 'latest'): Promise<string> {
  const code = await rpc.call(config.chainId, 'eth_getCode', [address, block]);
  if (typeof code !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(code)) throw rpcError(new UpstreamError('malformed'));
  return code.toLowerCase();
}
