/** Whether an address is a contract: https://eips.ethereum.org/EIPS/eip-1474 */
import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import type { ChainReader } from './rpc.ts';

/** Whether an address has code in the newest block. Throws 502 `rpc_error`. */
export async function hasCode({ config, rpc }: ChainReader, address: string): Promise<boolean> {
  const code = await rpc.call(config.chainId, 'eth_getCode', [address, 'latest']);
  if (typeof code !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(code)) throw rpcError(new UpstreamError('malformed'));
  return code !== '0x';
}
