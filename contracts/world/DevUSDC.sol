// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title For the local world: USDC that anyone mints
/// @dev Name, symbol, decimals and domain are code and no storage, so that the runtime code can be put at USDC's own
/// address. Transfers by authorization (EIP-3009) are as in Circle's FiatToken 2.2: order of the checks and of the events,
/// and the words of a refusal.
contract DevUSDC is ERC20("", "") {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    uint256 private constant BASE = 8453;

    mapping(address authorizer => mapping(bytes32 nonce => bool)) private _used;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @param signature of an address, or what the contract at `from` takes (ERC-1271)
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!_used[from][nonce], "FiatTokenV2: authorization is used or canceled");
        bytes32 structHash = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _checkSignature(from, structHash, signature);
        _used[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }

    /// @notice Whether an authorization was used.
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return _used[authorizer][nonce];
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes memory members = abi.encode(
            DOMAIN_TYPEHASH, keccak256(bytes(name())), keccak256(bytes(version())), block.chainid, address(this)
        );
        return keccak256(members);
    }

    /// @dev USDC has this name on Base; on Base Sepolia it has its symbol's.
    function name() public view override returns (string memory) {
        return block.chainid == BASE ? "USD Coin" : "USDC";
    }

    function version() public pure returns (string memory) {
        return "2";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function _checkSignature(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 digest = MessageHashUtils.toTypedDataHash(DOMAIN_SEPARATOR(), structHash);
        bool isGood = SignatureChecker.isValidSignatureNow(signer, digest, signature);
        require(isGood, "FiatTokenV2: invalid signature");
    }
}
