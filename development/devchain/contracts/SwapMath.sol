// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Amounts, prices and liquidity of a range, rounded in the pool's favour as Uniswap does. Roots are sqrt(price) * 2^96.
library SwapMath {
    /// The part of a price's move between two neighbouring ends of positions.
    struct Step {
        uint160 root;
        uint256 amountIn;
        uint256 amountOut;
        uint256 fee;
    }

    /// The whole of a fee.
    uint256 internal constant MILLION = 1_000_000;
    uint256 private constant ONE = 1 << 96;

    error TooLarge();

    /// Swaps up to `left` towards `target`: an input, fee included, if negative, or else an output.
    function stepTo(uint160 target, uint160 root, uint128 liquidity, int256 left, uint24 fee)
        internal
        pure
        returns (Step memory step)
    {
        bool zeroForOne = target <= root;
        if (left < 0) {
            uint256 withoutFee = uint256(-left) * (MILLION - fee) / MILLION;
            uint256 toTarget = _amountIn(zeroForOne, target, root, liquidity);
            bool reached = withoutFee >= toTarget;
            step.root = reached ? target : _rootAfter(zeroForOne, root, liquidity, withoutFee);
            step.amountIn = reached ? toTarget : _amountIn(zeroForOne, step.root, root, liquidity);
            step.fee = reached ? mulDivUp(toTarget, fee, MILLION - fee) : uint256(-left) - step.amountIn;
            step.amountOut = _amountOut(zeroForOne, step.root, root, liquidity);
        } else {
            uint256 toTarget = _amountOut(zeroForOne, target, root, liquidity);
            bool reached = uint256(left) >= toTarget;
            step.root = reached ? target : _rootBefore(zeroForOne, root, liquidity, uint256(left));
            step.amountOut = reached ? toTarget : uint256(left);
            step.amountIn = _amountIn(zeroForOne, step.root, root, liquidity);
            step.fee = mulDivUp(step.amountIn, fee, MILLION - fee);
        }
    }

    /// The liquidity of an amount of currency 0 above the price, or else of currency 1 below it.
    function liquidityFor(uint160 lower, uint160 upper, uint256 amount0, uint256 amount1)
        internal
        pure
        returns (uint256)
    {
        if (amount0 == 0) return mulDiv(amount1, ONE, upper - lower);
        return mulDiv(amount0, mulDiv(lower, upper, ONE), upper - lower);
    }

    /// a * b / c by 512 bits, rounded down.
    function mulDiv(uint256 a, uint256 b, uint256 c) internal pure returns (uint256) {
        unchecked {
            uint256 low = a * b;
            uint256 rest = mulmod(a, b, type(uint256).max);
            uint256 high = rest - low - (rest < low ? 1 : 0);
            if (high >= c) revert TooLarge();
            if (high == 0) return low / c;
            // An exact multiple of c is left, of which the odd part has an inverse modulo 2^256.
            rest = mulmod(a, b, c);
            high -= rest > low ? 1 : 0;
            low -= rest;
            uint256 twos = c & (0 - c);
            c /= twos;
            low = low / twos | high * ((0 - twos) / twos + 1);
            uint256 inverse = 3 * c ^ 2;
            for (uint256 bits = 4; bits < 256; bits *= 2) {
                inverse *= 2 - c * inverse;
            }
            return low * inverse;
        }
    }

    function mulDivUp(uint256 a, uint256 b, uint256 c) internal pure returns (uint256) {
        return mulDiv(a, b, c) + (mulmod(a, b, c) == 0 ? 0 : 1);
    }

    function _amountIn(bool zeroForOne, uint160 target, uint160 root, uint128 liquidity) private pure returns (uint256) {
        if (!zeroForOne) return mulDivUp(liquidity, target - root, ONE);
        return mulDivUp(mulDivUp(uint256(liquidity) << 96, root - target, root), 1, target);
    }

    function _amountOut(bool zeroForOne, uint160 target, uint160 root, uint128 liquidity) private pure returns (uint256) {
        if (zeroForOne) return mulDiv(liquidity, root - target, ONE);
        return mulDiv(uint256(liquidity) << 96, target - root, target) / root;
    }

    /// The price at which the pool has paid so much.
    function _rootBefore(bool zeroForOne, uint160 root, uint128 liquidity, uint256 amountOut)
        private
        pure
        returns (uint160)
    {
        if (zeroForOne) return uint160(root - mulDivUp(amountOut, ONE, liquidity));
        uint256 scaled = uint256(liquidity) << 96;
        return uint160(mulDivUp(scaled, root, scaled - amountOut * root));
    }

    function _rootAfter(bool zeroForOne, uint160 root, uint128 liquidity, uint256 amountIn)
        private
        pure
        returns (uint160)
    {
        if (!zeroForOne) return uint160(root + mulDiv(amountIn, ONE, liquidity));
        uint256 scaled = uint256(liquidity) << 96;
        return uint160(mulDivUp(scaled, root, scaled + amountIn * root));
    }
}
